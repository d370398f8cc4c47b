package ferro.integration;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideOutsideOfPackages;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.fields;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMember;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SlicesRuleDefinition;
import ferro.group.SystemContext;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Holds the arrows of docs/architecture.md, section 2, and what no class may do. */
class ArchitectureTest {
    private static final JavaClasses FERRO = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("ferro");

    @ParameterizedTest
    @EnumSource
    void aPartKnowsOnlyWhatIsBelowIt(Part part) {
        classes()
                .that()
                .resideInAnyPackage(part.packages())
                .should()
                .onlyDependOnClassesThat(arraysOf(resideInAnyPackage(part.mayKnow())))
                .allowEmptyShould(true)
                .check(FERRO);
    }

    @Test
    void everyClassBelongsToAPart() {
        classes().should().resideInAnyPackage(Part.allPackages()).check(FERRO);
    }

    /** A package named ffi is exported to the library alone, which needs its structures public. */
    @Test
    void librariesStayOutOfPublicSignatures() {
        DescribedPredicate<JavaClass> ofALibrary =
                arraysOf(resideInAnyPackage("com.google..", "io.netty..", "com.sun.jna.."));
        List<String> shown = FERRO.stream()
                .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                .filter(type -> !type.getPackageName().endsWith(".ffi"))
                .flatMap(ArchitectureTest::signatureTypes)
                .filter(use -> ofALibrary.test(use.type()))
                .map(use -> use.where() + " shows " + use.type().getName())
                .toList();
        assertEquals(List.of(), shown);
    }

    @Test
    void onlyTheContextAndTheLauncherReadTheEnvironment() {
        noClasses()
                .that(resideOutsideOfPackages("ferro.launcher.."))
                .and()
                .doNotHaveFullyQualifiedName(SystemContext.class.getName())
                .should()
                .callMethodWhere(DescribedPredicate.describe(
                        "it reads the environment",
                        call -> call.getTargetOwner().isEquivalentTo(System.class)
                                && call.getName().equals("getenv")))
                .check(FERRO);
    }

    @Test
    void nothingIsEverReadOrWrittenByJavaSerialization() {
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
    void noPackageNeedsAnotherThatNeedsIt() {
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
