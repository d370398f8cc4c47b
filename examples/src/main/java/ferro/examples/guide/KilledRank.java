package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** A rank whose process is killed. */
final class KilledRank {
    public static void main(String[] arguments) throws Exception {
        try (ProcessGroup group = ProcessGroup.join()) {
            if (group.rank() == 1) {
                String pid = String.valueOf(ProcessHandle.current().pid());
                new ProcessBuilder("kill", "-KILL", pid).start().waitFor(); // as the kernel does
            }
            group.barrier();
        }
    }
}
