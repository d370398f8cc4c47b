package ferro.integration;

import ferro.FerroException;
import java.util.stream.Collectors;

/** The culprits of a failure, as programs of tests print them. */
public final class Culprits {
    private Culprits() {}

    /** Returns the ranks to blame, separated by commas; empty if there are none. */
    public static String of(FerroException failure) {
        return failure.where().culprits().stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
