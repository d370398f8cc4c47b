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
    /** What codes and culprits may be if several things go wrong. */
    static boolean allows(Iterable<Cause> causes, Code code, Set<Integer> culprits) {
        Set<Integer> suspects = new TreeSet<>();
        boolean possible = false;
        for (Cause cause : causes) {
            if (cause.codes.contains(code)) {
                possible = true;
                suspects.addAll(cause.suspects);
            }
        }
        return possible && !culprits.isEmpty() && suspects.containsAll(culprits);
    }
}
