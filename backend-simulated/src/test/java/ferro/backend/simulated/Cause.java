package ferro.backend.simulated;

import ferro.FerroException.Code;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * What goes wrong in a random program, by a fault or by a rank's own doing, and what may be said of it.
 *
 * @param text     what
 * @param codes    what a group may then fail with; empty if nothing may fail
 * @param suspects ranks that may be blamed
 * @param sure     who must be blamed, maybe beside others, or -1
 * @param fault    how it is done by the simulation, or null
 */
record Cause(String text, Set<Code> codes, Set<Integer> suspects, int sure, Fault fault) {
    Cause(String text, Set<Code> codes, Set<Integer> suspects, Fault fault) {
        this(text, codes, suspects, -1, fault);
    }

    /** Returns the same with other codes. */
    Cause as(Set<Code> others) {
        return new Cause(text, others, suspects, sure, fault);
    }

    /** Returns the same in the ranks of a group; nobody is suspected there if it is not about its members. */
    Cause in(Program.Part part) {
        Set<Integer> members = suspects.stream()
                .map(part::indexOf)
                .filter(rank -> rank >= 0)
                .collect(Collectors.toCollection(TreeSet::new));
        return new Cause(text, members.isEmpty() ? Set.of() : codes, members, fault);
    }

    /**
     * Returns whether a failure is true of one of these causes. Who waits for whom may be a circle round a cut, in which
     * everybody answers almost everybody else: then all must only blame the same ranks.
     *
     * @param silent ranks that stood still for a while: they do not answer when others look for a culprit, and are one more
     */
    static boolean allows(Iterable<Cause> causes, Set<Integer> silent, Code code, Set<Integer> culprits) {
        Set<Integer> suspects = new TreeSet<>();
        boolean possible = false;
        boolean circle = false;
        boolean sure = true;
        for (Cause cause : causes) {
            if (cause.codes.contains(code)) {
                possible = true;
                suspects.addAll(cause.suspects);
                sure &= cause.sure < 0 || culprits.contains(cause.sure);
                circle |= cause.fault instanceof Fault.OneWayPartition && code == Code.TIMED_OUT;
            }
        }
        if (code == Code.TIMED_OUT) {
            suspects.addAll(silent);
        }
        return possible && sure && !culprits.isEmpty() && (circle || suspects.containsAll(culprits));
    }
}
