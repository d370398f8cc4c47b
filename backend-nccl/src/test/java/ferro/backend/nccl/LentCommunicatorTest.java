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
import java.util.stream.Stream;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** Who gets at the native communicator. */
class LentCommunicatorTest {
    @Test
    @DisplayName("2-11: no public method of the package hands an address to code of its caller's, which could keep it")
    void noPublicMethodLendsAnAddress() throws Exception {
        List<Class<?>> types = publicTypes();
        assertTrue(types.contains(JnaNcclBackend.class) && types.contains(NcclRankComm.class), types::toString);

        List<String> lending = types.stream()
                .flatMap(type -> Stream.of(type.getMethods()))
                .filter(LentCommunicatorTest::takesCodeOfAddresses)
                .map(Method::toString)
                .distinct()
                .toList();

        assertEquals(List.of(), lending);
    }

    private static boolean takesCodeOfAddresses(Method method) {
        return Stream.of(method.getParameterTypes())
                .anyMatch(type -> type.getName().startsWith("java.util.function.Long"));
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
