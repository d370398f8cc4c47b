package ferro.integration;

import java.util.List;
import java.util.stream.Stream;

/** The parts of ferro and what each may know, as docs/architecture.md draws them; a new part is a new line here. */
enum Part {
    SPI(packages("ferro", "ferro.spi..", "ferro.dispatch..", "ferro.recorder.."), libraries("jdk.jfr..")),
    CONTROL(packages("ferro.control.."), libraries(), SPI),
    COLLECTIVES(
            packages("ferro.group..", "ferro.job..", "ferro.collectives.."),
            libraries("jdk.incubator.vector.."),
            SPI,
            CONTROL),
    SIMULATED(packages("ferro.backend.simulated.."), libraries(), SPI, CONTROL, COLLECTIVES),
    TCP(packages("ferro.backend.tcp.."), libraries("ferro.shaded.io.netty.."), SPI, COLLECTIVES),
    SHM(packages("ferro.backend.shm.."), libraries(), SPI),
    NCCL(packages("ferro.backend.nccl.."), libraries("com.sun.jna.."), SPI, CONTROL),
    GLOO_FALLBACK(packages("ferro.backend.gloofallback.."), libraries(), SPI),
    TCK(
            packages("ferro.tck.."),
            libraries("jdk.jfr..", "org.junit..", "org.opentest4j..", "org.apiguardian.."),
            SPI,
            COLLECTIVES),
    SEGMENTS(packages("ferro.segments.."), libraries(), SPI),
    TRAINING(packages("ferro.training.."), libraries(), SPI, COLLECTIVES),
    EXAMPLES(packages("ferro.examples.."), libraries("com.sun.net.httpserver.."), SPI, COLLECTIVES, TRAINING),
    BENCHMARKS(
            packages("ferro.benchmarks"),
            libraries("picocli..", "com.sun.management.."),
            SPI,
            COLLECTIVES,
            SIMULATED,
            TRAINING),
    CHART(packages("ferro.benchmarks.chart.."), libraries("org.knowm.xchart..")),
    COMPARISON(packages("ferro.benchmarks.compare.."), libraries(), SPI, COLLECTIVES, BENCHMARKS, CHART),
    ANALYZE(packages("ferro.launcher.analyze.."), libraries("com.google.gson.."), SPI, CONTROL),
    LAUNCHER(
            packages("ferro.launcher.."),
            libraries("picocli..", "com.sun.source..", "com.google.gson..", "com.google.common.."),
            SPI,
            CONTROL,
            COLLECTIVES,
            TCP,
            NCCL,
            ANALYZE,
            EXAMPLES);

    private final String[] packages;
    private final String[] libraries;
    private final List<Part> known;

    Part(String[] packages, String[] libraries, Part... known) {
        this.packages = packages;
        this.libraries = libraries;
        this.known = List.of(known);
    }

    String[] packages() {
        return packages;
    }

    /** All that classes of this part may depend on: itself, the JDK, its libraries and the parts below it. */
    String[] mayKnow() {
        Stream<String> own = Stream.concat(Stream.of("java..", "javax.."), Stream.of(packages));
        Stream<String> below = known.stream().flatMap(part -> Stream.of(part.packages));
        return Stream.of(own, Stream.of(libraries), below)
                .flatMap(names -> names)
                .toArray(String[]::new);
    }

    static String[] allPackages() {
        return Stream.of(values()).flatMap(part -> Stream.of(part.packages)).toArray(String[]::new);
    }

    private static String[] packages(String... names) {
        return names;
    }

    private static String[] libraries(String... names) {
        return names;
    }
}
