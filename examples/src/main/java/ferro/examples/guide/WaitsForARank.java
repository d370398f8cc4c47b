package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** How long each rank waits for the others. */
final class WaitsForARank {
    public static void main(String[] arguments) throws InterruptedException {
        try (ProcessGroup group = ProcessGroup.join()) {
            Thread.sleep(group.rank() == 1 ? 500 : 0); // rank 1 has more work than the others
            long before = System.nanoTime();
            group.barrier();
            System.out.println("waited " + (System.nanoTime() - before) / 1_000_000 + " ms");
        }
    }
}
