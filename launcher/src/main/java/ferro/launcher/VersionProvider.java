package ferro.launcher;

import picocli.CommandLine.IVersionProvider;

/** The versions of this build of ferro and of the JDK. */
final class VersionProvider implements IVersionProvider {
    static String built() {
        String built = VersionProvider.class.getPackage().getImplementationVersion();
        return built == null ? "(a build without a version)" : built;
    }

    @Override
    public String[] getVersion() {
        return new String[] {"ferro " + built() + " on Java " + Runtime.version() + ", " + System.getProperty("os.name")
        };
    }
}
