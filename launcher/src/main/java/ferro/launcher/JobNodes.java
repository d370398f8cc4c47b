package ferro.launcher;

import com.google.gson.Gson;
import ferro.RankEnd;
import ferro.backend.tcp.TcpStoreServer;
import ferro.backend.tcp.store.EndedRanks;
import ferro.launcher.input.ExitCode;
import ferro.launcher.nodes.LostNode;
import ferro.launcher.nodes.NodeCard;
import ferro.launcher.nodes.NodeNews;
import ferro.launcher.nodes.Nodes;
import ferro.launcher.output.Screen;
import ferro.launcher.rank.CoreBinding;
import ferro.launcher.rank.JobEvent;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.stream.Collectors;

/**
 * The launchers of all nodes, as one job sees them. A job of one node has no other launchers and concludes alone.
 *
 * @param nodes           the launchers; empty for a job of one node
 * @param store           store of this launcher; empty if another node serves it
 * @param own             number of this node
 * @param saysWhatIsWrong whether exit code 2 means that rank 0 has said what is wrong with what was typed
 * @param startedNanos    when the generation was started here
 * @param generations     the generations of the job
 */
record JobNodes(
        Optional<Nodes> nodes,
        Optional<TcpStoreServer> store,
        int own,
        boolean saysWhatIsWrong,
        long startedNanos,
        Generations generations)
        implements AutoCloseable {
    List<NodeCard> cards() {
        return nodes.map(Nodes::cards).orElse(List.of());
    }

    /** Returns a line that says which nodes are there; none for a job of one node. */
    List<String> described() {
        String all = cards().stream().map(NodeCard::toString).collect(Collectors.joining(", "));
        return all.isEmpty() ? List.of() : List.of("nodes: " + all);
    }

    /** Turns news of other nodes into events. */
    void begin(BlockingQueue<JobEvent> events, Screen screen) {
        nodes.ifPresent(all -> all.begin(new News(events, screen)));
    }

    private record News(BlockingQueue<JobEvent> events, Screen screen) implements NodeNews {
        @Override
        public void allJoined() {
            events.add(new JobEvent.Joined());
        }

        @Override
        public void failedElsewhere(int code) {
            events.add(new JobEvent.FailedElsewhere(code, System.nanoTime()));
        }

        @Override
        public void signalledElsewhere(String name, int times) {
            screen.hurry();
            events.add(new JobEvent.Signalled(name, times));
        }
    }

    /** Passes a signal on to the other nodes. */
    void signalled(String name, int times) {
        nodes.ifPresent(all -> all.signalled(name, times));
    }

    void failed(JobEvent.Ended ended) {
        nodes.ifPresent(all -> all.failed(ended.rank(), ended.code()));
    }

    /** Reports to the ranks of all nodes how a rank of this node has ended. */
    void ended(int rank, RankEnd end) {
        nodes.ifPresentOrElse(
                all -> all.ended(rank, end),
                () -> store.ifPresent(server -> server.set(EndedRanks.key(rank), EndedRanks.value(end))));
    }

    /** Ends the job on all nodes because the output of ranks of this node can no longer be shown. */
    void unshown() {
        nodes.ifPresent(all -> all.ended(ExitCode.OUTPUT_CLOSED));
    }

    /** Tells the others that all ranks have joined; only the launcher of node 0 sees this by itself. */
    void allJoined() {
        nodes.filter(all -> own == 0).ifPresent(Nodes::joined);
    }

    /** Returns the cores for the ranks of this node: launchers on one machine divide its cores. */
    CoreBinding.Cores cores() {
        return cores(cards(), own, CoreBinding.Cores.ofThisMachine());
    }

    static CoreBinding.Cores cores(List<NodeCard> launchers, int own, CoreBinding.Cores all) {
        List<Integer> sharing = launchers.stream()
                .filter(other -> other.sharesCores(launchers.get(own)))
                .map(NodeCard::node)
                .toList();
        return sharing.contains(own) ? all.part(sharing.indexOf(own), sharing.size()) : all;
    }

    /** Returns the nodes that are known to be lost. */
    List<LostNode> lost() {
        return nodes.map(Nodes::lost).orElse(List.of());
    }

    /**
     * Waits for the reports of the other nodes, if there are any, and concludes from all of them.
     *
     * @param progress how far the ranks had come; only the launcher of node 0 need know it
     */
    GenerationEnd conclude(JobEnd here, GenerationProgress progress) throws InterruptedException {
        if (nodes.isEmpty()) {
            Postmortem postmortem = Postmortem.of(here);
            return decided(Conclusion.of(postmortem, List.of(), startedNanos, saysWhatIsWrong), progress);
        }
        NodeRecordings recordings = NodeRecordings.of(here.recordings(), here.job(), here.outcome());
        String verdict = nodes.get()
                .conclude(
                        orders -> NodeReport.of(here, recordings, orders, startedNanos)
                                .encoded(),
                        gathered -> judged(gathered, progress));
        return heard(verdict);
    }

    private GenerationEnd heard(String verdict) {
        GenerationEnd end = new Gson().fromJson(verdict, GenerationEnd.class);
        generations.heard(end);
        return end;
    }

    /** Ends the generation on all nodes because no rank of this node can go on. */
    GenerationEnd unstarted(IOException why) throws InterruptedException {
        nodes.orElseThrow().ended(ExitCode.FAILED);
        String verdict = nodes.get()
                .conclude(
                        orders -> Nodes.untold("could not start its ranks: " + why.getMessage()),
                        gathered -> judged(gathered, new GenerationProgress(false, "", System.nanoTime())));
        return heard(verdict);
    }

    private GenerationEnd decided(Conclusion conclusion, GenerationProgress progress) {
        double seconds = (System.nanoTime() - startedNanos) / 1e9;
        return own == 0
                ? generations.ended(conclusion, progress, seconds)
                : generations.endedAlone(conclusion, progress, seconds);
    }

    private String judged(Nodes.Gathered gathered, GenerationProgress progress) {
        Map<Integer, NodeReport> reports = new TreeMap<>();
        gathered.reports().forEach((node, text) -> reports.put(node, NodeReport.decoded(text)));
        List<String> notes = new ArrayList<>();
        Postmortem merged = NodeReport.merged(reports, nodes.orElseThrow().cards(), startedNanos, notes::add);
        List<LostNode> lost = List.copyOf(gathered.lost().values());
        Conclusion conclusion =
                Conclusion.of(merged, lost, startedNanos, saysWhatIsWrong).after(notes);
        GenerationEnd end = decided(conclusion, progress);
        if (!end.restarts()) {
            nodes.orElseThrow().jobEnds(conclusion.code());
        }
        return new Gson().toJson(end);
    }

    @Override
    public void close() {
        nodes.ifPresent(Nodes::close);
    }
}
