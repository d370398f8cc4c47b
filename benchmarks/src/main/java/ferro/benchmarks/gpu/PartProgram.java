package ferro.benchmarks.gpu;

import ferro.backend.nccl.NcclAvailability;
import ferro.group.BackendReport;
import ferro.group.SystemContext;
import java.io.PrintStream;

/** One rank of one part; started by {@link GpuReport} with {@code PART BYTES DEVICE}. */
final class PartProgram {
    /** What {@link GpuReport} reads the number of devices from. */
    static final String DEVICES = "- INFO devices: ";

    private PartProgram() {}

    /** Runs it; prints findings, and ends with 0 whatever they are. */
    public static void main(String[] words) {
        PrintStream out = System.out;
        Findings findings = new Findings(out);
        Part part = Part.parse(words[0]);
        long bytes = Long.parseLong(words[1]);
        int device = Integer.parseInt(words[2]);
        try {
            if (part == Part.AVAILABILITY) {
                lookAround(findings);
            } else {
                join(part, device, findings, rig -> run(part, rig, findings, bytes));
            }
        } finally {
            out.flush();
            // a check that hangs must not keep the process
            Runtime.getRuntime().halt(0);
        }
    }

    /** What a joined rank does. */
    @FunctionalInterface
    private interface Work {
        void on(Rig rig);
    }

    private static void join(Part part, int device, Findings findings, Work work) {
        Rig[] joined = new Rig[1];
        findings.check("joining", () -> {
            try {
                joined[0] = Rig.join(device);
            } catch (RuntimeException failure) {
                throw twoOnOneDevice(part, failure) ? new Findings.Skipped(refusal(failure)) : failure;
            }
            return joined[0].rank() + 1 + " of " + joined[0].ranks();
        });
        if (joined[0] != null) {
            work.on(joined[0]);
            findings.check("closing", () -> {
                joined[0].close();
                return "closed";
            });
        }
    }

    /** NCCL refuses two ranks on one device where neither NCCL_HOSTID nor NCCL_MULTI_RANK_GPU_ENABLE convinces it. */
    private static boolean twoOnOneDevice(Part part, RuntimeException failure) {
        String said = "" + failure.getMessage();
        return part.ranks() > 1 && (said.contains("Duplicate GPU") || said.contains("ncclInvalidUsage"));
    }

    private static String refusal(RuntimeException failure) {
        return "this NCCL does not take two ranks on one device (" + failure.getMessage() + ")";
    }

    private static void run(Part part, Rig rig, Findings findings, long bytes) {
        switch (part) {
            case COLLECTIVES -> CollectiveChecks.run(rig, findings);
            case PAIR_COLLECTIVES -> {
                CollectiveChecks.run(rig, findings);
                GroupChecks.run(rig, findings, bytes);
            }
            case STREAMS -> StreamChecks.run(rig, findings, bytes);
            case FAULTS -> FaultChecks.run(rig, findings);
            case SPEED -> SpeedChecks.run(rig, findings, bytes);
            case PAIR_ABORT -> PairChecks.abort(rig, findings);
            case PAIR_KILL -> PairChecks.kill(rig, findings, System.out);
            case PAIR_LATE -> PairChecks.late(rig, findings);
            case PAIR_MISMATCH -> PairChecks.mismatch(rig, findings);
            case PAIR_BESIDE_TCP -> {
                findings.check("both kinds of tensors", () -> PairChecks.bothKinds(rig));
                PairChecks.kill(rig, findings, System.out);
            }
            case ROUND_TRIP, PAIR_ROUND_TRIP -> {
                CollectiveChecks.run(rig, findings);
                RoundTripChecks.speed(rig, findings, bytes);
            }
            default -> throw new IllegalArgumentException("part " + part + " has no ranks");
        }
    }

    private static void lookAround(Findings findings) {
        try (SystemContext context = SystemContext.ofProcess()) {
            findings.info("java", "%s, %s", Runtime.version(), System.getProperty("os.arch"));
            findings.check("libraries are found and a device can be used", () -> {
                NcclAvailability found = NcclAvailability.look(context);
                findings.info(
                        "nccl",
                        "%s at %s",
                        found.version().map(Object::toString).orElse("none"),
                        found.nccl());
                findings.info("functions that it lacks", "%s", found.lacks());
                findings.info("runtime", "%s", found.runtime());
                findings.info("devices", "%d", found.devices());
                Findings.require(
                        found.unavailableBecause().isEmpty(),
                        "%s",
                        found.unavailableBecause().orElse(""));
                return found.devices() + " devices";
            });
            findings.check("the back end nccl is usable", () -> {
                BackendReport nccl = BackendReport.all(context).stream()
                        .filter(one -> one.name().equals("nccl"))
                        .findFirst()
                        .orElseThrow();
                Findings.require(
                        nccl.unavailable().isEmpty(), "%s", nccl.unavailable().orElse(""));
                return "by name";
            });
        }
    }
}
