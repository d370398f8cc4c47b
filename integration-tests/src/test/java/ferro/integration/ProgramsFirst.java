package ferro.integration;

import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Makes what processes of tests run from before the first test of a JVM: that takes long, and longer where another JVM makes it
 * meanwhile, and no test's time is to be spent on it.
 */
public final class ProgramsFirst implements BeforeAllCallback {
    /** Made by JUnit, which finds it as a service. */
    public ProgramsFirst() {}

    @Override
    public void beforeAll(ExtensionContext context) {
        LauncherRun.classPath();
    }
}
