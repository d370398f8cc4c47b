package ferro.integration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.harness.Child;
import ferro.harness.Job;
import ferro.harness.Jvm;
import java.io.File;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ResolvedModule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** ferro as named modules: providers are found by module-info alone, and every package that users need is exported. */
class ModulePathTest {
    private static final String MAIN = """
            import ferro.ReduceOp;
            import ferro.group.ProcessGroup;

            public class Main {
                public static void main(String[] arguments) {
                    try (ProcessGroup group = ProcessGroup.join()) {
                        long[] product = {group.rank() + 3, 10 * group.rank() + 7};
                        group.allReduce(product, ReduceOp.PRODUCT);
                        System.out.println(product[0] + " " + product[1] + " " + ProcessGroup.class.getModule().getName()
                                + " " + group.backend().getClass().getModule().isNamed());
                    }
                }
            }
            """;

    @TempDir
    private Path folder;

    @Test
    void ranksFindEachOtherOnTheModulePath() throws Exception {
        List<Path> modules = modules();
        String path = modules.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
        Path source = Files.writeString(folder.resolve("Main.java"), MAIN);
        String[] options = {"-p", path, "--add-modules", "ferro.collectives", "-d", "" + folder, "" + source};
        assertEquals(0, ToolProvider.getSystemJavaCompiler().run(null, null, null, options));
        List<String> line = new ArrayList<>(List.of(Jvm.java(), "-XX:+UseSerialGC", "-p", path));
        line.addAll(List.of("--add-modules", "ferro.backend.tcp", "-cp", "" + folder, "Main"));
        try (Job job = Job.byHand(2, Map.of(), rank -> line)) {
            for (Child rank : job.ended(0)) {
                assertEquals(List.of("12 119 ferro.collectives true"), rank.outLines());
            }
        }
    }

    /** A program of modules becomes an image of its own by jlink, which takes no jar that is no module. */
    @Test
    void everyRequiredModuleHasAnExplicitName() {
        ModuleFinder finder = ModuleFinder.of(modules().toArray(Path[]::new));
        Set<String> ours = finder.findAll().stream()
                .map(found -> found.descriptor().name())
                .filter(name -> name.startsWith("ferro.backend."))
                .collect(Collectors.toSet());
        assertTrue(ours.contains("ferro.backend.nccl"), ours::toString);
        List<String> automatic = Configuration.resolve(
                        finder, List.of(ModuleLayer.boot().configuration()), ModuleFinder.of(), ours)
                .modules()
                .stream()
                .filter(module -> module.reference().descriptor().isAutomatic())
                .map(ResolvedModule::name)
                .toList();
        assertEquals(List.of(), automatic);
    }

    /** Device memory and the host's back end come by services, from jars that the host round trip does not know. */
    @Test
    void theHostFallbackModuleRequiresOnlyTheSpi() {
        ModuleDescriptor fallback = ModuleFinder.of(modules().toArray(Path[]::new))
                .find("ferro.backend.gloofallback")
                .orElseThrow()
                .descriptor();
        Set<String> required = fallback.requires().stream()
                .map(ModuleDescriptor.Requires::name)
                .collect(Collectors.toSet());
        assertEquals(Set.of("java.base", "ferro.spi"), required);
        assertEquals(Set.of(), fallback.exports());
        assertEquals(Set.of(), fallback.opens());
    }

    /** What of the class path is ferro's modules and what they require. */
    static List<Path> modules() {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(entry -> Files.exists(entry.resolve("module-info.class"))
                        || entry.getFileName()
                                .toString()
                                .matches("(netty|jna|guava|failureaccess|ferro-(spi|coll|backend)).*\\.jar"))
                .filter(entry -> !entry.toString().contains("tck"))
                .toList();
    }
}
