package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** What moves the data of this job. */
final class WhichBackend {
    public static void main(String[] arguments) {
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println(group.medium().text());
        }
    }
}
