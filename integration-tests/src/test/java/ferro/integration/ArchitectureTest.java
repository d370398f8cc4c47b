package ferro.integration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import ferro.FerroException;
import ferro.Store;
import ferro.control.failure.ControlMessage;
import ferro.control.failure.Failure;
import ferro.group.SystemContext;
import ferro.integration.api.ApiSources;
import ferro.recorder.RecordedGroup;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds the arrows of docs/architecture.md, section 2, and what no class may do. */
@Tag("text")
class ArchitectureTest {
    private static final JavaClasses FERRO = ProductClasses.imported();

    private static final Path ROOT_POM = Checkout.ROOT.resolve("pom.xml");
    private static final Pattern EXPORTS = Pattern.compile("exports ([a-z.]+);");
    /** A name of ferro in a text of a rule. */
    private static final Pattern NAMED = Pattern.compile("[\" ](ferro(?:\\.[A-Za-z$]+)+(?:\\.\\.)?)[\",]");

    private static final Pattern DECLARED_CULPRITS = Pattern.compile("[>\\w] culprits[,;)]");

    @ParameterizedTest
    @EnumSource
    void aPartDependsOnlyOnThePartsBelow(Part part) {
        classes()
                .that()
                .resideInAnyPackage(part.packages())
                .should()
                .onlyDependOnClassesThat(arraysOf(resideInAnyPackage(part.mayKnow())))
                .allowEmptyShould(true)
                .check(FERRO);
    }

    /** The project was given these entries by name. None of them is ever merged away (decision 19). */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "pom.xml",
                "spi",
                "backend-nccl",
                "backend-tcp",
                "backend-simulated",
                "backend-gloo-fallback",
                "integration-tests",
                "docs"
            })
    void theTopLevelHasTheEntriesThatTheProjectWasGiven(String entry) throws IOException {
        String reactor = Files.readString(ROOT_POM);
        assertTrue(Files.exists(Checkout.ROOT.resolve(entry)), entry);
        assertTrue(entry.equals("pom.xml") || reactor.contains("<module>" + entry + "</module>"), entry);
    }

    /** A program may have each of the two jars without the other, and any other provider in its place. */
    @ParameterizedTest
    @CsvSource({"backend-nccl, gloo", "backend-gloo-fallback, nccl"})
    void ncclAndTheHostFallbackDoNotDependOnEachOther(String module, String other) throws IOException {
        String pom = Files.readString(Checkout.ROOT.resolve(module).resolve("pom.xml"));
        assertFalse(pom.contains(other), pom);
    }

    /** A rule about what has moved or is gone holds for nothing, and nobody sees it. */
    @Test
    void everyPackageAndClassInARuleExists() throws IOException {
        Set<String> absent = new TreeSet<>();
        int found = 0;
        for (String rules : List.of("ArchitectureTest.java", "Part.java")) {
            Matcher named = NAMED.matcher(
                    Files.readString(Path.of("src/test/java/ferro/integration").resolve(rules)));
            while (named.find()) {
                found++;
                if (FERRO.stream().noneMatch(type -> isNamed(named.group(1), type))) {
                    absent.add(named.group(1));
                }
            }
        }
        assertTrue(found > 30, "found " + found);
        // segments needs a newer JDK, and the Netty in ferro's packages is not imported
        absent.removeAll(Set.of("ferro.segments..", "ferro.shaded..", "ferro.shaded.io.netty.."));
        assertEquals(Set.of(), absent);
    }

    private static boolean isNamed(String name, JavaClass type) {
        return name.endsWith("..")
                ? (type.getPackageName() + ".").startsWith(name.substring(0, name.length() - 1))
                : type.getPackageName().equals(name) || type.getName().equals(name);
    }

    @Test
    void everyClassBelongsToAPart() {
        classes().should().resideInAnyPackage(Part.allPackages()).check(FERRO);
    }

    /** In packages that a module exports to all. */
    @Test
    void publicSignaturesShowNoTypesOfLibraries() throws IOException {
        Set<String> exported = ApiSources.exportedPackages();
        assertTrue(exported.containsAll(Set.of("ferro.spi", "ferro.backend.tcp")), exported::toString);
        DescribedPredicate<JavaClass> ofALibrary =
                arraysOf(resideInAnyPackage("com.google..", "ferro.shaded..", "com.sun.jna.."));
        List<String> shown = FERRO.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> exported.contains(type.getPackageName()))
                .flatMap(ArchitectureTest::signatureTypes)
                .filter(use -> ofALibrary.test(use.type()))
                .map(use -> use.where() + " shows " + use.type().getName())
                .toList();
        assertEquals(List.of(), shown);
    }

    @Test
    void onlyTheContextAndTheLauncherReadTheEnvironment() {
        // the programs of the guide are those of users
        noClasses()
                .that(resideOutsideOfPackages("ferro.launcher..", "ferro.examples.guide.."))
                .and()
                .doNotHaveFullyQualifiedName(SystemContext.class.getName())
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "it reads the environment",
                        call -> call.getTargetOwner().isEquivalentTo(System.class)
                                && call.getName().equals("getenv")))
                .check(FERRO);
    }

    /** Whoever is first starts the JDK's thread of delays, which keeps the class loader of that caller's thread for ever. */
    @Test
    void ranksDoNotUseTheDelayThreadOfTheJdk() {
        Set<String> delays = Set.of("orTimeout", "completeOnTimeout", "delayedExecutor");
        noClasses()
                .that(resideOutsideOfPackages("ferro.launcher..", "ferro.benchmarks.."))
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "it starts the JDK's thread of delays",
                        call -> call.getTargetOwner().isEquivalentTo(CompletableFuture.class)
                                && delays.contains(call.getName())))
                .check(FERRO);
    }

    /** The log of the JDK prints the class and the method that log, and the name of a lambda says nothing. */
    @Test
    void logLinesAreNotWrittenByLambdas() {
        noClasses()
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "a lambda logs",
                        call -> call.isDeclaredInLambda()
                                && call.getTargetOwner().isEquivalentTo(System.Logger.class)
                                && call.getName().equals("log")))
                .check(FERRO);
    }

    /** Failures and goodbyes go by control messages, as for all back ends (decision 64). */
    @Test
    void ncclUsesTheStoreOnlyForIds() {
        String ids = "ferro.backend.nccl.comm.IdExchange";
        noClasses()
                .that()
                .resideInAPackage("ferro.backend.nccl..")
                .and()
                .doNotHaveFullyQualifiedName("ferro.backend.nccl.comm.NcclJoin")
                .and()
                .haveNameNotMatching(ids + ".*")
                .should()
                .dependOnClassesThat()
                .haveFullyQualifiedName(Store.class.getName())
                .check(FERRO);
    }

    /** Messages carry it, and reports show it. A recording is of module spi, which does not know the module control. */
    @Test
    void onlyOneTypeHoldsCulpritsAndACode() throws IOException {
        List<String> holders = FERRO.stream()
                .filter(type -> fieldsOf(type).anyMatch(field -> field.getName().equals("culprits")))
                .filter(type -> fieldsOf(type)
                        .anyMatch(field -> field.getName().equals("code")
                                || field.getRawType().isEquivalentTo(FerroException.Code.class)))
                .map(JavaClass::getName)
                .sorted()
                .toList();
        assertEquals(List.of(Failure.class.getName(), RecordedGroup.Failed.class.getName()), holders);
        // its classes are not on the class path of these tests
        for (Path file : MainSources.of("spark"::equals)) {
            assertFalse(DECLARED_CULPRITS.matcher(Files.readString(file)).find(), file::toString);
        }
    }

    /**
     * LinuxFiles reads the files of the kernel. A decorator only returns the NCCL view; benchmarks and examples are
     * users of it. Carrier, TypedViews and the kernels alone have typed views of buffers; training and benchmarks are
     * users of tensors.
     */
    @ParameterizedTest
    @CsvSource({
        "'\"/proc',",
        "'(?<!return [a-z.]{1,99})\\.asNcclBackend\\(\\)', DeviceFloats.java Dispatcher.java GpuCollectives.java MeasuredMemory.java",
        "'\\b(Double|Float|Int|Long|Short)Buffer\\b', AverageExchange.java Bfloat16Kernel.java Carrier.java DoubleBlock.java "
                + "DoubleKernel.java Float16Kernel.java FloatBlock.java FloatKernel.java IntKernel.java LongKernel.java "
                + "OverlapStep.java ShortKernel.java TypedViews.java"
    })
    void eachListedPatternIsUsedByOneClassOnly(String pattern, String users) throws IOException {
        Set<String> found = new TreeSet<>();
        for (Path file : MainSources.of(module -> true)) {
            if (Pattern.compile(pattern).matcher(Files.readString(file)).find()) {
                found.add(file.getFileName().toString());
            }
        }
        assertEquals(users == null ? "" : users, String.join(" ", found), pattern);
    }

    private static Stream<JavaField> fieldsOf(JavaClass type) {
        return type.getFields().stream().filter(field -> !field.getModifiers().contains(JavaModifier.STATIC));
    }

    /** Each is one protocol of all back ends. */
    @ParameterizedTest
    @CsvSource({
        "ferro.control.failure.ControlMessage$GroupProposal, ferro.control.group.SubgroupAgreement",
        "ferro.control.failure.ControlMessage$Cancellation, ferro.control.group.SubgroupAgreement",
        "ferro.control.failure.ControlMessage$Goodbye, ferro.control.group.GracefulExits"
    })
    void oneClassSendsTheMessagesOfEachProtocol(String message, String sender) {
        Set<String> makers = FERRO.get(message).getConstructorCallsToSelf().stream()
                .map(call -> topLevel(call.getOriginOwner()))
                .filter(maker -> !maker.equals(ControlMessage.class.getName()))
                .collect(Collectors.toSet());
        assertEquals(Set.of(sender), makers);
    }

    private static String topLevel(JavaClass type) {
        return type.getName().replaceAll("[$].*", "");
    }

    @Test
    void fewClassesOfTheNcclQueueDependOnEachOther() {
        String pack = "ferro.backend.nccl.queue";
        Map<String, Set<String>> needed = new TreeMap<>();
        for (JavaClass type : FERRO.that(resideInAnyPackage(pack))) {
            Set<String> others = needed.computeIfAbsent(topLevel(type), name -> new TreeSet<>());
            type.getDirectDependenciesFromSelf().stream()
                    .map(need -> need.getTargetClass().getBaseComponentType())
                    .filter(target -> target.getPackageName().equals(pack))
                    .forEach(target -> others.add(topLevel(target)));
        }
        // whatever is needed is needed by those that need it
        for (String middle : needed.keySet()) {
            needed.values().stream()
                    .filter(others -> others.contains(middle))
                    .forEach(others -> others.addAll(List.copyOf(needed.get(middle))));
        }
        for (String name : needed.keySet()) {
            List<String> knot = needed.get(name).stream()
                    .filter(other -> needed.get(other).contains(name))
                    .toList();
            assertTrue(knot.size() <= 3, () -> "need each other: " + knot);
        }
    }

    @Test
    void javaSerializationIsNeverUsed() {
        noClasses()
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ObjectInputStream.class)
                .orShould()
                .dependOnClassesThat()
                .areAssignableTo(ObjectOutputStream.class)
                .check(FERRO);
    }

    @Test
    void packagesHaveNoCyclicDependencies() {
        SlicesRuleDefinition.slices()
                .matching("(ferro..)")
                .namingSlices("$1")
                .should()
                .beFreeOfCycles()
                .check(FERRO);
    }

    @Test
    void staticFieldsAreFinal() {
        fields().that().areStatic().should().beFinal().check(FERRO);
    }

    /** A use of a type in what callers and subclasses see. */
    private record Use(String where, JavaClass type) {}

    private static Stream<Use> signatureTypes(JavaClass owner) {
        Stream<Use> parents = Stream.concat(owner.getRawSuperclass().stream(), owner.getRawInterfaces().stream())
                .map(type -> new Use(owner.getName(), type));
        Stream<Use> fields = owner.getFields().stream()
                .filter(ArchitectureTest::isSeen)
                .map(field -> new Use(field.getFullName(), field.getRawType()));
        Stream<Use> calls =
                owner.getCodeUnits().stream().filter(ArchitectureTest::isSeen).flatMap(ArchitectureTest::callTypes);
        return Stream.of(parents, fields, calls).flatMap(uses -> uses);
    }

    private static Stream<Use> callTypes(JavaCodeUnit call) {
        Stream<JavaClass> types =
                Stream.concat(Stream.of(call.getRawReturnType()), call.getRawParameterTypes().stream());
        return Stream.concat(types, call.getExceptionTypes().stream()).map(type -> new Use(call.getFullName(), type));
    }

    private static boolean isSeen(JavaMember member) {
        return member.getModifiers().contains(JavaModifier.PUBLIC)
                || member.getModifiers().contains(JavaModifier.PROTECTED);
    }

    /** Looks at the element of an array, and lets primitives pass where a package list says what is allowed. */
    private static DescribedPredicate<JavaClass> arraysOf(DescribedPredicate<JavaClass> elements) {
        return DescribedPredicate.describe(
                elements.getDescription(), type -> elements.test(type.getBaseComponentType()));
    }
}
