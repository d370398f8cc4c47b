package ferro.gpu;

import ferro.backend.nccl.device.NcclAvailability;
import ferro.group.BackendReport;
import ferro.group.SystemContext;
import java.io.PrintStream;
import java.util.function.Consumer;

/** One rank of one part; started by {@link GpuReport} with {@code PART BYTES DEVICE}. */
final class PartProgram {
    /** Prefix of the line from which {@link GpuReport} reads the number of devices. */
    static final String DEVICES = "- INFO devices: ";

    private PartProgram() {}

    /** Runs the part, prints its findings, and always ends with 0. */
    public static void main(String[] words) {
        PrintStream out = System.out;
        FindingsPrinter findings = new FindingsPrinter(out);
        ReportPart part = ReportPart.parse(words[0]);
        long bytes = Long.parseLong(words[1]);
        int device = Integer.parseInt(words[2]);
        try {
            if (part == ReportPart.AVAILABILITY) {
                lookAround(findings);
            } else {
                join(part, device, findings, rig -> run(part, rig, findings, bytes));
            }
        } finally {
            out.flush();
            // a check that hangs must not keep the process alive
            Runtime.getRuntime().halt(0);
        }
    }

    private static void join(ReportPart part, int device, FindingsPrinter findings, Consumer<Rig> work) {
        Rig[] joined = new Rig[1];
        findings.check("joining", () -> {
            try {
                joined[0] = Rig.join(device);
            } catch (RuntimeException failure) {
                throw twoOnOneDevice(part, failure) ? new FindingsPrinter.Skipped(refusal(failure)) : failure;
            }
            return joined[0].rank() + 1 + " of " + joined[0].ranks();
        });
        if (joined[0] != null) {
            work.accept(joined[0]);
            findings.check("closing", () -> {
                joined[0].close();
                return "closed";
            });
        }
    }

    /** Whether NCCL has refused two ranks on one device, in spite of NCCL_HOSTID and NCCL_MULTI_RANK_GPU_ENABLE. */
    private static boolean twoOnOneDevice(ReportPart part, RuntimeException failure) {
        String said = "" + failure.getMessage();
        return part.ranks() > 1 && (said.contains("Duplicate GPU") || said.contains("ncclInvalidUsage"));
    }

    private static String refusal(RuntimeException failure) {
        return "this NCCL does not take two ranks on one device (" + failure.getMessage() + ")";
    }

    private static void run(ReportPart part, Rig rig, FindingsPrinter findings, long bytes) {
        switch (part) {
            case COLLECTIVES -> {
                KitRules.run(rig, findings);
                CollectiveChecks.run(rig, findings);
            }
            case PAIR_COLLECTIVES -> {
                KitRules.run(rig, findings);
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
                KitRules.run(rig, findings);
                CollectiveChecks.run(rig, findings);
                RoundTripChecks.speed(rig, findings, bytes);
            }
            default -> throw new IllegalArgumentException("part " + part + " has no ranks");
        }
    }

    private static void lookAround(FindingsPrinter findings) {
        try (SystemContext context = SystemContext.ofProcess()) {
            findings.info("java", "%s, %s", Runtime.version(), System.getProperty("os.arch"));
            findings.check("libraries are found and a device can be used", () -> {
                NcclAvailability found = NcclAvailability.look(context);
                findings.info(
                        "nccl",
                        "%s at %s",
                        found.version().map(Object::toString).orElse("none"),
                        found.nccl());
                findings.info("missing functions", "%s", found.lacks());
                findings.info("runtime", "%s", found.runtime());
                findings.info("devices", "%d", found.devices());
                FindingsPrinter.require(
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
                FindingsPrinter.require(
                        nccl.unavailable().isEmpty(), "%s", nccl.unavailable().orElse(""));
                return "by name";
            });
        }
    }
}
