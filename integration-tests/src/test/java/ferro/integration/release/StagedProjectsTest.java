package ferro.integration.release;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ferro.integration.Checkout;
import ferro.integration.Jdks;
import ferro.integration.release.Distribution.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Projects outside of ferro's build, which find ferro in the staged release alone. */
@Tag("long")
@Timeout(600)
class StagedProjectsTest {
    private static final Path PROJECTS = Path.of("src/test/projects").toAbsolutePath();
    private static final Path STARTER = Checkout.ROOT.resolve("examples/starter");
    private static final String MAIN_SOURCES = "src/main/java";

    @TempDir
    private static Path shared;

    private static Staging staging;
    private static Maven maven;
    private static Path settings;

    @TempDir
    private Path folder;

    @BeforeAll
    static void makeALocalRepository() throws IOException {
        staging = Staging.ofProperty();
        assumeTrue(Maven.isInstalled(), "no mvn on the path");
        maven = Maven.without(Checkout.group(), shared.resolve("repository"));
        settings = Files.writeString(
                shared.resolve("settings.xml"), """
                <settings>
                    <profiles>
                        <profile>
                            <id>staged</id>
                            <repositories>
                                <repository>
                                    <id>staged</id>
                                    <url>%s</url>
                                </repository>
                            </repositories>
                        </profile>
                    </profiles>
                    <activeProfiles>
                        <activeProfile>staged</activeProfile>
                    </activeProfiles>
                </settings>
                """.formatted(staging.folder().toUri()));
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void theStarterIsTestedAndRuns(int version) throws Exception {
        Path jdk = Jdks.assumed(version);
        Path project = Checkout.copy(STARTER, folder.resolve("starter"));

        build(jdk, project);

        assertTrue(Files.exists(project.resolve("target/surefire-reports/TEST-org.example.starter.MainTest.xml")));
        TwoRanks.sum(Map.of(), java(jdk, "-jar", project.resolve("target/starter.jar")));
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void aFatJarRuns(int version) throws Exception {
        Path jdk = Jdks.assumed(version);
        Path project = Checkout.copy(PROJECTS.resolve("fat-jar"), folder.resolve("fat-jar"));
        Checkout.copy(STARTER.resolve(MAIN_SOURCES), project.resolve(MAIN_SOURCES));

        build(jdk, project);

        TwoRanks.sum(Map.of(), java(jdk, "-jar", project.resolve("target/fat.jar")));
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void aSpringBootProgramRunsBesideItsNetty(int version) throws Exception {
        Path jdk = Jdks.assumed(version);
        Path project = Checkout.copy(PROJECTS.resolve("spring-boot"), folder.resolve("spring-boot"));

        build(jdk, project);

        Path jar = project.resolve("target/boot.jar");
        assertHasNettyOf(jar, TwoRanks.sum(Map.of(), java(jdk, "-jar", jar)));
        Path work = Files.createDirectory(folder.resolve("work"));
        Run run = Distribution.unpacked(Distribution.archive(".tar.gz"), folder.resolve("tools"), work)
                .ferro(jdk, Map.of(), work, "run", "-n", "2", "-J-Dferro.links=tcp", jar.toString())
                .endedWith(0)
                .printed("[0] rank 0 of 2 has [3.0, 30.0]")
                .printed("[1] rank 1 of 2 has [3.0, 30.0]");
        for (String rank : List.of("[0] ", "[1] ")) {
            assertHasNettyOf(
                    jar,
                    run.out()
                            .lines()
                            .filter(line -> line.startsWith(rank))
                            .map(line -> line.substring(rank.length()))
                            .collect(Collectors.joining("\n")));
        }
    }

    /** The program prints the version of its Netty, which Spring Boot manages, and where the JVM has found it. */
    private static void assertHasNettyOf(Path jar, String said) {
        List<String> netty =
                said.lines().filter(line -> line.startsWith("netty ")).toList();
        assertEquals(1, netty.size(), said);
        assertTrue(netty.get(0).startsWith("netty 4.1.") && netty.get(0).contains(jar.toString()), said);
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 25})
    void anImageOfJlinkRuns(int version) throws Exception {
        Path jdk = Jdks.assumed(version);
        Path project = Checkout.copy(STARTER, folder.resolve("starter"));
        Files.copy(
                PROJECTS.resolve("image/module-info.java"),
                project.resolve(MAIN_SOURCES).resolve("module-info.java"));

        build(jdk, project, "-Dmaven.test.skip");

        Path target = project.resolve("target");
        Commands.run(
                target,
                Map.of(),
                List.of(
                        jdk.resolve("bin/jlink").toString(),
                        "--module-path",
                        "starter.jar:lib",
                        "--add-modules",
                        "org.example.starter",
                        "--launcher",
                        "starter=org.example.starter/org.example.starter.Main",
                        "--output",
                        "image"));
        TwoRanks.sum(Map.of(), List.of(target.resolve("image/bin/starter").toString()));
    }

    private static void build(Path jdk, Path project, String... options) throws Exception {
        List<String> arguments = new ArrayList<>(List.of("-q", "package", "-s", settings.toString()));
        arguments.addAll(List.of(options));
        maven.run(jdk, project, Map.of(), arguments.toArray(String[]::new));
    }

    private static List<String> java(Path jdk, String option, Path jar) {
        return List.of(jdk.resolve("bin/java").toString(), "-XX:TieredStopAtLevel=1", option, jar.toString());
    }
}
