package ferro.examples.guide;

import ferro.group.ProcessGroup;

/** Rank 1 does not join in time. */
final class JoinsLate {
    public static void main(String[] arguments) throws InterruptedException {
        if (System.getenv("RANK").equals("1")) {
            Thread.sleep(60_000); // rank 1 reads a large file before it joins
        }
        try (ProcessGroup group = ProcessGroup.join()) {
            System.out.println("joined " + group.worldSize() + " ranks");
        }
    }
}
