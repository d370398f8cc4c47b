package ferro.integration.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.group.Groups;
import ferro.group.JoinOptions;
import ferro.group.ProcessGroup;
import ferro.integration.MainSources;
import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The signatures that users see, who know no type of {@code ferro.spi}. */
class UserSignaturesTest {
    private static final Set<String> FOR_USERS = Set.of(
            "ferro",
            "ferro.group",
            "ferro.training",
            "ferro.training.checkpoint",
            "ferro.training.optimizer",
            "ferro.backend.simulated");

    /** Types in packages for users that only implementers and tools call. */
    private static final Set<String> FOR_IMPLEMENTERS = Set.of(
            "ferro.group.BackendReport",
            "ferro.group.Groups",
            "ferro.group.SystemContext",
            "ferro.backend.simulated.SimulatedBackendProvider");

    /** A simulated back end decorates an engine. Its own methods are for users. */
    private static final String DECORATOR = "ferro.backend.simulated.SimulatedBackend is a ferro.spi.ForwardingBackend";

    @Test
    void signaturesForUsersShowNoTypesForImplementers() throws Exception {
        List<Class<?>> types = typesForUsers();
        List<String> found = new ArrayList<>();
        for (Class<?> type : types) {
            if (!FOR_IMPLEMENTERS.contains(type.getName())) {
                found.addAll(withTypesForImplementers(type));
            }
        }

        assertTrue(types.containsAll(List.of(ProcessGroup.class, JoinOptions.class)), types::toString);
        assertEquals(List.of(DECORATOR), found, "signatures with a type of ferro.spi");
    }

    @Test
    void everyListedExceptionShowsATypeForImplementers() throws Exception {
        for (String name : FOR_IMPLEMENTERS) {
            assertTrue(!withTypesForImplementers(Class.forName(name)).isEmpty(), name + " is no exception");
        }
    }

    @Test
    void aTypeForImplementersInASignatureIsFound() {
        List<String> found = withTypesForImplementers(Groups.class);

        assertTrue(found.size() == 2 && found.get(0).contains("ferro.spi.RankContext"), found::toString);
    }

    private static List<Class<?>> typesForUsers() throws IOException, ClassNotFoundException {
        List<Class<?>> types = new ArrayList<>();
        for (Path file : MainSources.of(module -> true)) {
            String name = ApiSources.packageOf(file);
            String simple = file.getFileName().toString().replace(".java", "");
            if (FOR_USERS.contains(name) && !simple.equals("package-info")) {
                add(types, Class.forName(name + "." + simple));
            }
        }
        return types;
    }

    private static void add(List<Class<?>> types, Class<?> type) {
        if (Modifier.isPublic(type.getModifiers())) {
            types.add(type);
            Stream.of(type.getDeclaredClasses()).forEach(nested -> add(types, nested));
        }
    }

    /** Returns the public constructors, methods, fields and supertypes that show a type of {@code ferro.spi}. */
    private static List<String> withTypesForImplementers(Class<?> type) {
        List<String> found = new ArrayList<>();
        Stream.concat(Stream.of(type.getConstructors()), Stream.of(type.getMethods()))
                .filter(member -> shows(types(member)))
                .forEach(member -> found.add(member.toGenericString()));
        Stream.of(type.getFields())
                .filter(field -> shows(Stream.of(field.getGenericType())))
                .forEach(field -> found.add(field.toGenericString()));
        Stream.concat(Stream.ofNullable(type.getGenericSuperclass()), Stream.of(type.getGenericInterfaces()))
                .filter(above -> shows(Stream.of(above)))
                .forEach(above -> found.add(type.getName() + " is a " + above.getTypeName()));
        return found.stream().sorted().toList();
    }

    /** Returns the types of a signature. The type that declares an inherited method is not one of them. */
    private static Stream<Type> types(Executable member) {
        Stream<Type> returned =
                member instanceof Method method ? Stream.of(method.getGenericReturnType()) : Stream.of();
        return Stream.of(
                        returned,
                        Stream.of(member.getGenericParameterTypes()),
                        Stream.of(member.getGenericExceptionTypes()))
                .flatMap(each -> each);
    }

    private static boolean shows(Stream<Type> types) {
        return types.anyMatch(each -> each.getTypeName().contains("ferro.spi."));
    }
}
