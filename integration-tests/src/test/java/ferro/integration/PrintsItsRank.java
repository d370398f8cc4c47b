package ferro.integration;

import java.util.List;

/** A rank that joins nothing. */
final class PrintsItsRank {
    private PrintsItsRank() {}

    public static void main(String[] arguments) {
        System.getLogger("ferro.test").log(System.Logger.Level.INFO, "waiting for ranks [1] of 2");
        System.out.println("rank " + System.getenv("RANK") + " of " + System.getenv("WORLD_SIZE") + " x="
                + System.getProperty("x") + " " + List.of(arguments));
    }
}
