package ferro.backend.nccl.comm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.backend.nccl.NcclException;
import ferro.backend.nccl.device.CudaStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who gets at the native communicator. */
class LentCommunicatorTest {
    /** One type of each package that the module exports to all. */
    private static final List<Class<?>> SEEN = List.of(NcclException.class, CudaStream.class, JnaNcclBackend.class);

    @Test
    @DisplayName(
            "2-11: no public method returns a number that could be an address but a stream's, or takes code of its caller's"
                    + " but what hears of events or makes calls")
    void noPublicMethodHandsOutAnAddress() throws Exception {
        List<Class<?>> types = publicTypes();
        List<Class<?>> some = List.of(JnaNcclBackend.class, NcclRankComm.class, CudaStream.class, NcclException.class);
        assertTrue(types.containsAll(some), types::toString);

        Set<String> handing = types.stream()
                .flatMap(type -> Stream.of(type.getMethods()))
                .filter(method -> returnsAddress(method) || takesCode(method))
                .map(method -> method.getDeclaringClass().getSimpleName() + "." + method.getName())
                .collect(Collectors.toSet());

        assertEquals(
                Set.of(
                        "CudaStream.handle",
                        "JnaNcclBackend.stream",
                        "NcclRankComm.stream",
                        "JnaNcclBackend.onEvent",
                        "JnaNcclBackend.grouped"),
                handing);
    }

    @Test
    @DisplayName("2-11: no public field holds such a number, and these are all the packages that users see")
    void noPublicFieldHoldsAnAddress() throws Exception {
        assertEquals(
                Set.of(),
                publicTypes().stream()
                        .flatMap(type -> Stream.of(type.getFields()))
                        .map(Field::toGenericString)
                        .filter(LentCommunicatorTest::mayBeAddress)
                        .collect(Collectors.toSet()));

        URI classes = NcclException.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI();
        try (InputStream module = Files.newInputStream(Path.of(classes).resolve("module-info.class"))) {
            assertEquals(
                    SEEN.stream().map(Class::getPackageName).collect(Collectors.toSet()),
                    ModuleDescriptor.read(module).exports().stream()
                            .filter(exported -> !exported.isQualified())
                            .map(ModuleDescriptor.Exports::source)
                            .collect(Collectors.toSet()));
        }
    }

    private static boolean returnsAddress(Method method) {
        return mayBeAddress(method.toGenericString().split("\\(")[0]);
    }

    private static boolean mayBeAddress(String type) {
        return type.matches(".*\\b(long|java\\.lang\\.Long|com\\.sun\\.jna\\.\\w+)\\b.*");
    }

    /** Whether it takes anything of one method, which a lambda can be. */
    private static boolean takesCode(Method method) {
        return Stream.of(method.getParameterTypes())
                .anyMatch(type -> type.isInterface()
                        && Stream.of(type.getMethods())
                                        .filter(one -> Modifier.isAbstract(one.getModifiers()))
                                        .count()
                                == 1);
    }

    /** Returns the public types of the packages that the module exports. */
    private static List<Class<?>> publicTypes() throws IOException, ReflectiveOperationException, URISyntaxException {
        List<Class<?>> types = new ArrayList<>();
        for (Class<?> one : SEEN) {
            Path folder = Path.of(
                            one.getResource(one.getSimpleName() + ".class").toURI())
                    .getParent();
            try (Stream<Path> files = Files.list(folder)) {
                List<String> names = files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
                        .map(name -> name.substring(0, name.length() - ".class".length()))
                        .toList();
                for (String name : names) {
                    types.add(Class.forName(one.getPackageName() + "." + name));
                }
            }
        }
        return types.stream()
                .filter(type -> Modifier.isPublic(type.getModifiers()))
                .toList();
    }
}
