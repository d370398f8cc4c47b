package ferro.integration;

import ferro.FerroException;
import java.util.stream.Collectors;

/** The culprits of a failure, as programs of tests print them. */
public final class Culprits {
    private Culprits() {}

    public static String of(FerroException failure) {
        return failure.where().culprits().stream().map(String::valueOf).collect(Collectors.joining(","));
    }

    static void print(FerroException failure) {
        System.out.println("failed: " + failure.code() + " by " + of(failure) + ": " + failure.getMessage());
    }
}
