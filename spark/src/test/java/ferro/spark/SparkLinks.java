package ferro.spark;

import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.spark.ClassReferences.Reference;
import java.io.IOException;
import java.lang.invoke.MethodType;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/** The references of a compiled module to Spark, Scala and Hadoop, and whether the Spark of this class path has them. */
public final class SparkLinks {
    private static final ClassLoader LOADER = FerroSpark.class.getClassLoader();
    private static final String FOREIGN = "(org[./]apache|scala)[./].*";

    private SparkLinks() {}

    /** Returns the references that this Spark lacks. Fails if the module has fewer references than the least number. */
    public static Set<String> missingReferences(Class<?> ofModule, int least) throws Exception {
        Set<String> missing = new TreeSet<>();
        int found = 0;
        for (byte[] type : types(ofModule)) {
            for (Reference one : ClassReferences.of(type)) {
                if (one.owner().matches(FOREIGN)) {
                    found++;
                    if (!exists(one)) {
                        missing.add(one.toString());
                    }
                }
            }
        }
        assertTrue(found >= least, "found only " + found + " references");
        return missing;
    }

    /** Returns what a module's classes inherit without an implementation: a trait may have more abstract methods in another Scala. */
    public static Set<String> missingMethods(Class<?> ofModule) throws Exception {
        Set<String> missing = new TreeSet<>();
        for (byte[] bytes : types(ofModule)) {
            Class<?> type = Class.forName(ClassReferences.name(bytes), false, LOADER);
            if (!Modifier.isAbstract(type.getModifiers())) {
                Stream.of(type.getMethods())
                        .filter(method -> Modifier.isAbstract(method.getModifiers()))
                        .forEach(method -> missing.add(type.getName() + ": " + method));
            }
        }
        return missing;
    }

    static boolean exists(Reference one) {
        try {
            Class<?> owner = Class.forName(one.owner().replace('/', '.'), false, LOADER);
            if (one.name().isEmpty()) {
                return true;
            }
            return one.descriptor().startsWith("(") ? hasMethod(owner, one) : hasField(owner, one);
        } catch (ClassNotFoundException | TypeNotPresentException missing) {
            return false;
        }
    }

    private static boolean hasField(Class<?> owner, Reference one) throws ClassNotFoundException {
        for (Class<?> type : withSupertypes(owner)) {
            for (Field field : type.getDeclaredFields()) {
                if (field.getName().equals(one.name())
                        && field.getType().descriptorString().equals(one.descriptor())) {
                    return isOpen(field.getModifiers());
                }
            }
        }
        return false;
    }

    private static boolean hasMethod(Class<?> owner, Reference one) {
        MethodType wanted = MethodType.fromMethodDescriptorString(one.descriptor(), LOADER);
        for (Class<?> type : withSupertypes(owner)) {
            List<Executable> all = new ArrayList<>(Arrays.asList(type.getDeclaredMethods()));
            all.addAll(Arrays.asList(type.getDeclaredConstructors()));
            for (Executable each : all) {
                boolean isMethod = each instanceof Method;
                String name = isMethod ? each.getName() : "<init>";
                Class<?> result = isMethod ? ((Method) each).getReturnType() : void.class;
                if (name.equals(one.name())
                        && MethodType.methodType(result, each.getParameterTypes())
                                .equals(wanted)) {
                    return isOpen(each.getModifiers());
                }
            }
        }
        return false;
    }

    private static boolean isOpen(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static List<Class<?>> withSupertypes(Class<?> first) {
        List<Class<?>> all = new ArrayList<>();
        Deque<Class<?>> left = new ArrayDeque<>(List.of(first));
        while (!left.isEmpty()) {
            Class<?> type = left.pop();
            all.add(type);
            left.addAll(Arrays.asList(type.getInterfaces()));
            if (type.getSuperclass() != null) {
                left.push(type.getSuperclass());
            }
        }
        all.add(Object.class);
        return all;
    }

    private static List<byte[]> types(Class<?> ofModule) throws IOException, URISyntaxException {
        URI location =
                ofModule.getProtectionDomain().getCodeSource().getLocation().toURI();
        if (Files.isDirectory(Path.of(location))) {
            return types(Path.of(location));
        }
        try (FileSystem jar = FileSystems.newFileSystem(Path.of(location))) {
            return types(jar.getPath("/"));
        }
    }

    private static List<byte[]> types(Path root) throws IOException {
        List<byte[]> all = new ArrayList<>();
        try (Stream<Path> files = Files.walk(root)) {
            for (Path file :
                    files.filter(name -> name.toString().endsWith(".class")).toList()) {
                all.add(Files.readAllBytes(file));
            }
        }
        return all;
    }
}
