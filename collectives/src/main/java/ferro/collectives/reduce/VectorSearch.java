package ferro.collectives.reduce;

import java.util.Optional;

/**
 * The result of the search for kernels of the Vector API. The module of this API is present only if the JVM was started
 * with it.
 *
 * @param family the kernels, if they can be used
 * @param absent why no kernels can be used; empty if they can be used
 */
record VectorSearch(Optional<KernelFamily> family, String absent) {
    private static final String MODULE = "jdk.incubator.vector";
    private static final String FAMILY = "ferro.collectives.reduce.VectorKernels";

    static VectorSearch ofThisJvm() {
        Module module = module();
        if (module == null) {
            return none("this JVM was started without --add-modules " + MODULE);
        }
        // module-info does not require the module, because the compiler does not find incubating modules under
        // --release
        VectorSearch.class.getModule().addReads(module);
        try {
            KernelFamily found = (KernelFamily)
                    Class.forName(FAMILY).getDeclaredConstructor().newInstance();
            String why = found.unusableBecause();
            return why == null ? new VectorSearch(Optional.of(found), "") : none(why);
        } catch (ReflectiveOperationException | LinkageError unusable) {
            return none(unusable.toString());
        }
    }

    /** Finds the module by a loop: findModule uses streams, which are slow to begin with. Returns null without it. */
    private static Module module() {
        for (Module module : ModuleLayer.boot().modules()) {
            if (MODULE.equals(module.getName())) {
                return module;
            }
        }
        return null;
    }

    private static VectorSearch none(String why) {
        return new VectorSearch(Optional.empty(), why);
    }

    /** Returns a description of the kernels in use. */
    String text() {
        return family.map(KernelFamily::description).orElse("plain Java, no vectors: " + absent);
    }
}
