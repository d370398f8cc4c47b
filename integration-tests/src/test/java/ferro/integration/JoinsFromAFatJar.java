package ferro.integration;

import ferro.ReduceOp;
import ferro.group.ProcessGroup;
import ferro.group.SystemContext;
import ferro.spi.BackendProvider;
import ferro.spi.Services;
import java.util.List;
import java.util.Map;
import java.util.ServiceLoader;
import java.util.TreeSet;

/** A rank that says which back ends it finds, and over what it has summed. */
final class JoinsFromAFatJar {
    private JoinsFromAFatJar() {}

    public static void main(String[] arguments) {
        backEnds().forEach(System.out::println);
        int[] one = {1};
        try (ProcessGroup group = ProcessGroup.join()) {
            group.allReduce(one, ReduceOp.SUM);
            System.out.println("sum " + one[0] + ": " + group.linkReport());
        }
    }

    /** Returns names of back ends, each with what it lacks here. */
    static List<String> backEnds() {
        TreeSet<String> found = new TreeSet<>();
        try (SystemContext unset = SystemContext.of(Map.of())) {
            for (ServiceLoader.Provider<BackendProvider> one : Services.providers(BackendProvider.class)) {
                BackendProvider provider = one.get();
                found.add(provider.name() + ": "
                        + provider.unavailableBecause(unset).orElse("usable"));
            }
        }
        return List.copyOf(found);
    }
}
