package ferro.integration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import ferro.Carrier;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * An element type is told apart in one place, {@link Carrier}, and by kernels, which compute with it: adding one touches no link, no
 * back end and no staging. Rules of the kit are left out, since they must know the types by themselves.
 */
class ElementTypesTest {
    private static final JavaClasses PRODUCT = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("ferro")
            .that(resideOutsideOfPackage("ferro.tck.."));

    /** Kernels that serve more than one type, by the arithmetic of each. */
    private static final Set<String> KERNELS = Set.of(
            "ferro.collectives.reduce.Elements",
            "ferro.collectives.reduce.Kernels",
            "ferro.collectives.reduce.Multiplied",
            "ferro.collectives.reduce.WholeSums",
            "ferro.collectives.reduce.ElementLoops",
            "ferro.collectives.reduce.Specialised");

    private static final String ELEMENTS_OF_TENSORS = "ferro.HostElements";

    private static final Set<String> ARRAYS = Stream.of(Carrier.values())
            .map(carrier -> carrier.arrayClass().getName())
            .collect(Collectors.toSet());

    private static final Set<String> VIEWS =
            Set.of("asFloatBuffer", "asDoubleBuffer", "asIntBuffer", "asLongBuffer", "asShortBuffer");

    @Test
    void onlyKernelsSwitchOverTypes() {
        Set<String> switching = switching();
        switching.removeAll(KERNELS);

        assertEquals(Set.of(), switching, "ask the type: DataType.carrier, isFloating, byteSize");
    }

    @Test
    void onlyKernelsTellArraysOrViewsApart() {
        Map<String, Set<String>> chains = chains();
        chains.keySet().removeAll(KERNELS);
        chains.keySet().removeAll(Set.of(Carrier.class.getName(), ELEMENTS_OF_TENSORS));

        assertEquals(Map.of(), chains, "a chain by the type of the elements: leave it to Carrier");
    }

    /** Or the two above would look for what no class file has. */
    @Test
    void whatIsLookedForIsSeenWhereItStands() {
        assertTrue(switching().contains("ferro.collectives.reduce.Multiplied"), "switch");
        assertEquals(ARRAYS, chains().get(ELEMENTS_OF_TENSORS), "arrays");
        assertEquals(VIEWS, chains().get(Carrier.class.getName()), "views");
    }

    private static Set<String> switching() {
        // what javac makes of a switch over an enum
        Set<String> tables = Set.of("$SwitchMap$ferro$DataType", "$SwitchMap$ferro$Carrier");
        return PRODUCT.stream()
                .filter(each -> each.getFields().stream().anyMatch(field -> tables.contains(field.getName())))
                .map(ElementTypesTest::outermost)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    /** Classes that tell two arrays or two views apart or more, and which. */
    private static Map<String, Set<String>> chains() {
        Map<String, Set<String>> found = new TreeMap<>();
        for (JavaClass each : PRODUCT) {
            Set<String> told = found.computeIfAbsent(outermost(each), name -> new TreeSet<>());
            each.getInstanceofChecks().stream()
                    .map(check -> check.getRawType().getName())
                    .filter(ARRAYS::contains)
                    .forEach(told::add);
            each.getMethodCallsFromSelf().stream()
                    .map(call -> call.getTarget().getName())
                    .filter(VIEWS::contains)
                    .forEach(told::add);
        }
        found.values().removeIf(told -> told.size() < 2);
        return found;
    }

    private static String outermost(JavaClass each) {
        String name = each.getName();
        return name.contains("$") ? name.substring(0, name.indexOf('$')) : name;
    }
}
