/** JUnit tests of the contract for back ends. A test class extends one class and implements one method. */
module ferro.tck {
    requires jdk.jfr;
    requires transitive ferro.collectives;
    requires transitive org.junit.jupiter.api;
    requires transitive org.junit.jupiter.params;

    exports ferro.tck;

    opens ferro.tck to
            org.junit.platform.commons;
}
