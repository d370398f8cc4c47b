package ferro.integration;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;

/** The class files of the product, as they stand on the class path of the tests. */
public final class ProductClasses {
    private ProductClasses() {}

    /**
     * Imports all classes of ferro but those of tests and of the Netty in ferro's packages. ArchUnit's own option looks for {@code target/test-classes}, and a build
     * with another output folder has none.
     */
    public static JavaClasses imported() {
        return new ClassFileImporter()
                .withImportOption(location -> !location.contains("/test-classes/")
                        && !location.contains("/ferro/shaded/")
                        && !location.contains("/ferro/harness/"))
                .importPackages("ferro");
    }
}
