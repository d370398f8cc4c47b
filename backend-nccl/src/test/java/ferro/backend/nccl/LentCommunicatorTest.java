package ferro.backend.nccl;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who gets at the native communicator. */
class LentCommunicatorTest {
    @Test
    @DisplayName(
            "2-11: no public method returns a number that could be an address but a stream's, or takes code of its caller's"
                    + " but what hears of events or makes calls")
    void noPublicMethodHandsOutAnAddress() throws Exception {
        List<Class<?>> types = publicTypes();
        assertTrue(types.contains(JnaNcclBackend.class) && types.contains(NcclRankComm.class), types::toString);

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

    private static boolean returnsAddress(Method method) {
        String type = method.toGenericString().split("\\(")[0];
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

    private static List<Class<?>> publicTypes() throws IOException, ReflectiveOperationException, URISyntaxException {
        Path folder = Path.of(
                        JnaNcclBackend.class.getResource("JnaNcclBackend.class").toURI())
                .getParent();
        try (Stream<Path> files = Files.list(folder)) {
            List<String> names = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".class") && !name.equals("package-info.class"))
                    .map(name -> name.substring(0, name.length() - ".class".length()))
                    .toList();
            Stream.Builder<Class<?>> types = Stream.builder();
            for (String name : names) {
                types.add(Class.forName("ferro.backend.nccl." + name));
            }
            return types.build()
                    .filter(type -> Modifier.isPublic(type.getModifiers()))
                    .toList();
        }
    }
}
