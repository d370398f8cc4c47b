package ferro.examples.jlama;

import com.github.tjake.jlama.tensor.operations.NaiveTensorOperations;
import com.github.tjake.jlama.tensor.operations.PanamaTensorOperations;
import com.github.tjake.jlama.tensor.operations.TensorOperations;
import com.github.tjake.jlama.tensor.operations.TensorOperationsProvider;
import java.util.List;
import java.util.Optional;

/** The kernels that Jlama has chosen. */
final class Kernels {
    private static final String VECTORS = "jdk.incubator.vector";

    private Kernels() {}

    /** Returns why the kernels of this JVM cannot be used; empty if they can be used. */
    static Optional<String> refusal() {
        if (ModuleLayer.boot().findModule(VECTORS).isEmpty()) {
            return Optional.of("this JVM has no module " + VECTORS + ": start it with --add-modules " + VECTORS);
        }
        return refusal(TensorOperationsProvider.get());
    }

    /** Returns why chosen kernels cannot be used; empty if they are Jlama's own kernels in Java. */
    static Optional<String> refusal(TensorOperations chosen) {
        return List.of(PanamaTensorOperations.class, NaiveTensorOperations.class)
                        .contains(chosen.getClass())
                ? Optional.empty()
                : Optional.of("Jlama has chosen its " + chosen.name() + ", which compute wrong answers: remove"
                        + " jlama-native from the class path, or start the JVM with"
                        + " -Djlama.force_panama_tensor_operations=true");
    }
}
