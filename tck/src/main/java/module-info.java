/** Contract suites for back ends: extend one class, name one method, run them as JUnit tests. */
module ferro.tck {
    requires jdk.jfr;
    requires transitive ferro.collectives;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;

    exports ferro.tck;
}
