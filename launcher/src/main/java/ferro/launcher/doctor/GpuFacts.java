package ferro.launcher.doctor;

import ferro.backend.nccl.LibraryLoadFailure;
import ferro.backend.nccl.device.NcclAvailability;
import ferro.dispatch.DeviceMemories;
import ferro.dispatch.FallbackDecision;
import ferro.dispatch.HostFallback;
import ferro.spi.RankContext;
import ferro.spi.ServiceErrors;
import ferro.spi.Services;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;

/** The facts of {@code ferro doctor} about device tensors: NCCL, devices, and the slow path through host memory. */
final class GpuFacts {
    private GpuFacts() {}

    /** Collects the facts about device tensors. Loads NCCL and the CUDA runtime if they are installed. */
    static Map<String, String> of(RankContext context) {
        Map<String, String> facts = new LinkedHashMap<>();
        Optional<String> noGpu = NcclAvailability.noGpuBecause(context);
        if (noGpu.isPresent()) {
            facts.put("nccl", notUsable(noGpu.get()));
            facts.put("its gate", gate(FallbackDecision.of(context)));
            return facts;
        }
        Optional<String> memory = Optional.empty();
        try {
            addNccl(NcclAvailability.look(context), facts);
            memory = DeviceMemories.unavailableBecause(context);
            facts.put("device memory", memory.map(GpuFacts::notUsable).orElse("usable"));
        } catch (IllegalArgumentException | LinkageError misset) {
            facts.put("nccl", "not usable: " + misset.getMessage());
        }
        facts.put("host round trip", fallback(context, memory));
        facts.put("its gate", gate(FallbackDecision.of(context)));
        return facts;
    }

    private static void addNccl(NcclAvailability nccl, Map<String, String> facts) {
        facts.put("nccl", nccl.unavailableBecause().map(GpuFacts::notUsable).orElse("usable"));
        nccl.version().ifPresent(version -> {
            facts.put("nccl library", version + " at " + nccl.nccl());
            facts.put("cuda runtime", nccl.runtime());
            facts.put("devices", "" + nccl.devices());
        });
        if (!nccl.lacks().isEmpty()) {
            facts.put("this nccl has not", String.join(", ", nccl.lacks()));
        }
        int number = 0;
        for (LibraryLoadFailure tried : nccl.tried()) {
            facts.put("tried, " + ++number, tried.candidate() + ": " + tried.message());
        }
    }

    private static String fallback(RankContext context, Optional<String> memory) {
        try {
            return Services.first(HostFallback.class)
                    .map(found -> found.unavailableBecause(context)
                            .map(why -> "not usable: "
                                    + (memory.equals(Optional.of(why))
                                            ? "no device memory"
                                            : DoctorReport.inTheDoctor(why)))
                            .orElse("usable"))
                    .orElse("none: add ferro-backend-gloo-fallback to the class path");
        } catch (ServiceConfigurationError | LinkageError broken) {
            return "broken: " + ServiceErrors.root(broken);
        }
    }

    private static String notUsable(String why) {
        return "not usable: " + DoctorReport.inTheDoctor(why);
    }

    private static String gate(FallbackDecision decision) {
        String by = decision.decidedBy() == null ? "nothing is set" : decision.decidedBy() + " says so";
        return (decision.isOpen() ? "open: " : "shut: ") + by;
    }
}
