package ferro.integration.misuse;

import com.tngtech.archunit.core.domain.JavaClass;
import ferro.integration.ProductClasses;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Every public constructor and method that users of ferro call, as class files have them. */
final class PublicCalls {
    /** What users see; ferro.recorder is called by back ends alone, once per operation. */
    private static final Set<String> PACKAGES = Set.of(
            "ferro", "ferro.backend.simulated", "ferro.collectives", "ferro.dispatch", "ferro.group", "ferro.spi");

    private PublicCalls() {}

    record Call(Class<?> on, Executable call) {
        boolean needsReceiver() {
            return call instanceof Method && !Modifier.isStatic(call.getModifiers());
        }

        /** Returns the place of a parameter in the tables of the tests: type, method, parameter. */
        String place(int parameter) {
            return name(on) + "." + simpleName() + "." + call.getParameters()[parameter].getName();
        }

        String simpleName() {
            return call instanceof Method ? call.getName() : "new";
        }

        Object make(Object receiver, Object... arguments) throws Throwable {
            // the forms of ProcessGroup stand in classes that are not public
            call.setAccessible(true);
            try {
                return call instanceof Constructor<?> constructor
                        ? constructor.newInstance(arguments)
                        : ((Method) call).invoke(receiver, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        }

        @Override
        public String toString() {
            return name(on) + "." + simpleName()
                    + Stream.of(call.getParameterTypes())
                            .map(Class::getSimpleName)
                            .toList();
        }
    }

    /** Returns all calls with at least one argument that can be null, in one order. */
    static List<Call> all() {
        List<Call> calls = new ArrayList<>();
        for (Class<?> type : types()) {
            if (!Modifier.isAbstract(type.getModifiers()) && !type.isEnum()) {
                Stream.of(type.getConstructors()).forEach(each -> calls.add(new Call(type, each)));
            }
            methods(type).forEach(each -> calls.add(new Call(type, each)));
        }
        return calls.stream()
                .filter(each -> Arrays.stream(each.call().getParameterTypes()).anyMatch(some -> !some.isPrimitive()))
                .sorted(Comparator.comparing(Call::toString))
                .toList();
    }

    static List<Class<?>> types() {
        return ProductClasses.imported().stream()
                .filter(type -> PACKAGES.contains(type.getPackageName()))
                .map(JavaClass::reflect)
                .filter(PublicCalls::isSeen)
                .sorted(Comparator.comparing(Class::getName))
                .collect(Collectors.toList());
    }

    private static boolean isSeen(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return Modifier.isPublic(type.getModifiers()) && !type.isAnonymousClass() && (outer == null || isSeen(outer));
    }

    /** Methods of its own and of what it extends: not what it implements, which stands with the interface. */
    private static List<Method> methods(Class<?> type) {
        List<Method> found = new ArrayList<>();
        for (Class<?> owner = type; owner != null && owner.getName().startsWith("ferro."); owner = next(owner, type)) {
            for (Method method : owner.getDeclaredMethods()) {
                if (Modifier.isPublic(method.getModifiers())
                        && !method.isBridge()
                        && !method.isSynthetic()
                        && !isGiven(method)
                        && found.stream().noneMatch(other -> overrides(other, method))) {
                    found.add(method);
                }
            }
        }
        return found;
    }

    /** Superclasses that are public stand for themselves. */
    private static Class<?> next(Class<?> owner, Class<?> type) {
        Class<?> above = owner.getSuperclass();
        return above == null || isSeen(above) ? null : above;
    }

    private static boolean overrides(Method one, Method other) {
        return one.getName().equals(other.getName())
                && Arrays.equals(one.getParameterTypes(), other.getParameterTypes());
    }

    /** What the language makes, and what Object asks for. */
    private static boolean isGiven(Method method) {
        return method.getName().equals("equals")
                || method.getDeclaringClass().isEnum() && method.getName().equals("valueOf");
    }

    static String name(Class<?> type) {
        Class<?> outer = type.getEnclosingClass();
        return (outer == null ? "" : name(outer) + ".") + type.getSimpleName();
    }
}
