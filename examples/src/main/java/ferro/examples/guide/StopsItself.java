package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** A rank whose process is stopped. */
final class StopsItself {
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 1) {
                String pid = String.valueOf(ProcessHandle.current().pid());
                new ProcessBuilder("kill", "-STOP", pid).start().waitFor();
            }
            group.barrier();
        }
    }
}
