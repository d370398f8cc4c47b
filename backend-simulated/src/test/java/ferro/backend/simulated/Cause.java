package ferro.backend.simulated;

import ferro.FerroException.Code;
import java.util.Set;
import java.util.TreeSet;

/**
 * What goes wrong in a random program, by a fault or by a rank's own doing, and what may be said of it.
 *
 * @param text     what
 * @param codes    what a group may then fail with; empty if nothing may fail
 * @param suspects ranks that may be blamed
 * @param fault    how it is done by the simulation, or null
 */
record Cause(String text, Set<Code> codes, Set<Integer> suspects, Fault fault) {
    /**
     * Returns whether a failure is true of one of these causes. A rank that stands still while others look for the culprit does
     * not answer them, and is one more. Who waits for whom may be a circle round a cut, in which everybody answers almost
     * everybody else: then all must only blame the same ranks.
     */
    static boolean allows(Iterable<Cause> causes, Code code, Set<Integer> culprits) {
        Set<Integer> suspects = new TreeSet<>();
        Set<Integer> silent = new TreeSet<>();
        boolean possible = false;
        boolean circle = false;
        for (Cause cause : causes) {
            if (cause.codes.contains(code)) {
                possible = true;
                suspects.addAll(cause.suspects);
                circle |= cause.fault instanceof Fault.Cut && code == Code.TIMED_OUT;
            } else if (cause.fault instanceof Fault.Pause pause && code == Code.TIMED_OUT) {
                silent.add(pause.rank());
            }
        }
        suspects.addAll(silent);
        return possible && !culprits.isEmpty() && (circle || suspects.containsAll(culprits));
    }
}
