package ferro.gpu;

import ferro.CollectiveBackend;
import ferro.NcclBackend;
import ferro.dispatch.GpuCollectives;
import ferro.group.Groups;
import ferro.group.ProcessGroup;
import ferro.tck.BackendContract;
import ferro.tck.RankContract;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Runs the rules of docs/contract.md that ranks in processes of their own can run, each in a fresh group. The kit compares
 * every collective, type and op with a plain loop, and looks at the elements around the operands.
 */
final class KitRules {
    /** What NCCL does not do; without it the engine does everything. */
    private static final Set<String> NCCL_REFUSALS = Set.of(
            BackendContract.MESSAGE_TAGS, BackendContract.INTEGER_AVERAGES, "i16", "u16", "scan", "exclusiveScan");

    /** The rule of all-reduce: enough to see that host tensors have a way, too. */
    private static final int ON_HOST = 101;

    /** A property for libraries that stand in for those of a GPU, on which NcclContractTest runs all cells. */
    private static final String SELECTION = "report.selection";

    private KitRules() {}

    static void run(Rig rig, FindingsPrinter findings) {
        Optional<NcclBackend> nccl = rig.group().backend().asNcclBackend();
        Set<String> refusals = nccl.isPresent() ? NCCL_REFUSALS : Set.of();
        RankContract onDevice = RankContract.onDevice(() -> fresh(rig), refusals, rig.memory(), rig.device());
        (Boolean.getBoolean(SELECTION) ? onDevice.withSelection() : onDevice)
                .rules(rig.ranks())
                .forEach(rule -> check(rule, "", findings));
        RankContract.onHost(() -> fresh(rig), refusals).rules(rig.ranks()).stream()
                .filter(rule -> rule.number() == ON_HOST)
                .forEach(rule -> check(rule, " in host memory", findings));
    }

    /** Makes a group of all ranks that takes device tensors; its close closes the door in front of it, too. */
    private static ProcessGroup fresh(Rig rig) {
        CollectiveBackend whole = (CollectiveBackend) rig.group().backend();
        int[] all = IntStream.range(0, rig.ranks()).toArray();
        CollectiveBackend fresh = whole.newGroup(all, "kit", whole.timeout());
        return Groups.of(GpuCollectives.with(rig.context()).over(fresh), rig.context());
    }

    private static void check(RankContract.RankRule rule, String where, FindingsPrinter findings) {
        findings.check("rule " + rule.number() + where, () -> {
            Map<String, Integer> refused = rule.run();
            return rule.name() + (refused.isEmpty() ? "" : ", refused as declared: " + refused);
        });
    }
}
