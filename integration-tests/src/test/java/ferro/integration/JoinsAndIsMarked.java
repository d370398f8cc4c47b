package ferro.integration;

import ferro.group.ProcessGroup;

/** A rank that joins, loads a class that marks the end of the join in the log of classes, and leaves. */
final class JoinsAndIsMarked {
    private JoinsAndIsMarked() {}

    /** Loaded when the join has returned. */
    static final class Joined {
        private Joined() {}

        static String text(ProcessGroup group) {
            return "joined " + group.rank();
        }
    }

    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println(Joined.text(group));
        }
    }
}
