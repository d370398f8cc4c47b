package ferro.group;

/**
 * Values from {@code /proc/PID/stat}. The second field, the command, may contain blanks and brackets, so the fields are
 * counted from its last bracket (proc(5)).
 *
 * @param pid        number of the process, field 1
 * @param startTicks start time in clock ticks since boot, field 22
 */
record ProcessStat(long pid, long startTicks) {
    private static final int STATE = 3;
    private static final int FLAGS = 9;
    private static final int START = 22;
    /** {@code PF_EXITING} of linux/sched.h: set before memory is freed, long before sockets close. */
    private static final long PF_EXITING = 0x4;

    /**
     * Parses the line.
     *
     * @throws IllegalArgumentException if the text is no such line
     */
    static ProcessStat of(String text) {
        int bracket = text.lastIndexOf(')');
        String[] fields = bracket < 0 ? new String[0] : text.substring(bracket).split("\\s+");
        if (fields.length <= START - STATE + 1) {
            throw new IllegalArgumentException("no line of /proc/PID/stat: " + text);
        }
        long pid = Long.parseLong(text.substring(0, text.indexOf(' ')));
        return new ProcessStat(pid, Long.parseLong(fields[START - STATE + 1]));
    }

    /** Returns whether the process is exiting, a zombie or dead; allocates nothing. */
    static boolean isExiting(byte[] stat, int length) {
        int at = length - 1;
        while (at >= 0 && stat[at] != ')') {
            at--;
        }
        int state = at + 2;
        if (at < 0 || state >= length) {
            return false;
        }
        return stat[state] == 'Z' || stat[state] == 'X' || stat[state] == 'x' || flagsOf(stat, length, state);
    }

    private static boolean flagsOf(byte[] stat, int length, int state) {
        int at = state;
        for (int field = STATE; field < FLAGS; field++) {
            while (at < length && stat[at] != ' ') {
                at++;
            }
            at++;
        }
        long flags = 0;
        while (at < length && stat[at] >= '0' && stat[at] <= '9') {
            flags = 10 * flags + stat[at] - '0';
            at++;
        }
        return (flags & PF_EXITING) != 0;
    }
}
