package ferro.integration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackage;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
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
 * back end and no staging. Rules of the kit are left out, since they must know the types by themselves; what asks for one type
 * ({@code == DataType.INT8}, for bytes) is not looked for.
 */
class ElementTypesTest {
    private static final JavaClasses PRODUCT = ProductClasses.imported().that(resideOutsideOfPackage("ferro.tck.."));

    /** What computes with elements of more than one carrier, or chooses who does. */
    private static final Set<String> KERNELS =
            Set.of("ferro.collectives.reduce.KernelFactory", "ferro.collectives.reduce.IntegerSums");

    private static final String ELEMENTS_OF_TENSORS = "ferro.HostTensor";

    private static final Set<String> ARRAYS = Stream.of(Carrier.values())
            .map(carrier -> carrier.arrayClass().getName())
            .collect(Collectors.toSet());

    private static final Set<String> VIEWS =
            Set.of("asFloatBuffer", "asDoubleBuffer", "asIntBuffer", "asLongBuffer", "asShortBuffer");

    @Test
    void noClassSwitchesOverDataTypes() {
        assertEquals(Set.of(), switchingOver("DataType"), "ask the type: carrier, isFloating, isUnsigned, byteSize");
    }

    @Test
    void onlyKernelsSwitchOverCarriers() {
        Set<String> switching = switchingOver("Carrier");
        switching.removeAll(KERNELS);

        assertEquals(Set.of(), switching, "leave it to Carrier");
    }

    @Test
    void onlyKernelsDistinguishArraysOrViewsByType() {
        Map<String, Set<String>> chains = chains();
        chains.keySet().removeAll(KERNELS);
        chains.keySet().removeAll(Set.of(Carrier.class.getName(), ELEMENTS_OF_TENSORS));

        assertEquals(Map.of(), chains, "a chain by the type of the elements: leave it to Carrier");
    }

    /** Or the others would look for what no class file has. */
    @Test
    void theCheckFindsAPlantedSwitchAndChain() {
        assertTrue(switchingOver("Carrier").contains("ferro.collectives.reduce.IntegerSums"), "switch");
        assertEquals(ARRAYS, chains().get(ELEMENTS_OF_TENSORS), "arrays");
        assertEquals(VIEWS, chains().get(Carrier.class.getName()), "views");
    }

    private static Set<String> switchingOver(String type) {
        // what javac makes of a switch over an enum
        String table = "$SwitchMap$ferro$" + type;
        return PRODUCT.stream()
                .filter(each -> each.getFields().stream()
                        .anyMatch(field -> field.getName().equals(table)))
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
