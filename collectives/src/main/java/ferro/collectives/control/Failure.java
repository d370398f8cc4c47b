package ferro.collectives.control;

import ferro.FerroException.Code;

/**
 * Why a group has failed; the first one of a group stays.
 *
 * @param code     kind
 * @param origin   rank that saw it first, as far as this rank knows
 * @param culprits ranks to blame, comma-separated, empty if unknown
 * @param text     for people: what failed, where, expected and found, the way out
 * @param cause    first cause on this rank, or null
 */
public record Failure(Code code, int origin, String culprits, String text, Throwable cause) {
    /**
     * Returns what the other ranks are told: an interrupt here is an abort there, with this rank to blame.
     *
     * @return failure to send
     */
    Failure asSeenByOthers() {
        if (code == Code.INTERRUPTED) {
            return new Failure(Code.ABORTED, origin, Integer.toString(origin), text, null);
        }
        return this;
    }
}
