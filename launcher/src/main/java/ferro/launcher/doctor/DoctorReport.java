package ferro.launcher.doctor;

import com.google.gson.GsonBuilder;
import ferro.FerroException;
import ferro.backend.tcp.TcpOutlook;
import ferro.group.BackendReport;
import ferro.job.DetectedLauncher;
import ferro.job.JobFinder;
import ferro.job.JobVariables;
import ferro.launcher.input.DescriptorCheck;
import ferro.launcher.input.Placement;
import ferro.launcher.program.BackendChoice;
import ferro.launcher.program.JavaSettings;
import ferro.launcher.program.ProgramFinder;
import ferro.launcher.rank.ChildProcessGuard;
import ferro.launcher.rank.CoreBinding.UsableCores;
import ferro.spi.ForwardingContext;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The findings of {@code ferro doctor}.
 *
 * @param job      the rank that a program started on this machine would have, and the detected launchers
 * @param backends all providers on the class path
 * @param tcp      facts about connections between ranks, by name
 * @param shm      facts about memory that ranks of this host could share, by name
 * @param gpu      facts about device tensors, by name
 * @param machine  facts about the JDK and tools, by name
 * @param problems why no job of several ranks can run on this machine; empty if a job of several ranks can run
 * @param limits   what this machine lacks for a job with one rank per core, or for a job from a source file
 */
public record DoctorReport(
        Map<String, String> job,
        List<BackendReport> backends,
        Map<String, String> tcp,
        Map<String, String> shm,
        Map<String, String> gpu,
        Map<String, String> machine,
        List<String> problems,
        List<String> limits) {
    private static final int SEVERAL = 2;

    /** Examines this machine, and changes nothing. */
    public static DoctorReport of(RankContext context, ProgramFinder programs) {
        return of(context, programs, UsableCores.ofThisMachine(), DescriptorCheck.ofThisProcess());
    }

    /** Examines this machine as if the machine had the given cores and the given limit of open files. */
    public static DoctorReport of(
            RankContext context, ProgramFinder programs, UsableCores cores, DescriptorCheck descriptors) {
        List<String> problems = new ArrayList<>();
        List<String> limits = new ArrayList<>();
        int ranks = Math.max(SEVERAL, cores.cores());
        judge(descriptors, ranks, problems, limits);
        Map<String, String> job = job(context, problems);
        List<BackendReport> backends = backends(asFirstRank(context));
        selectionProblem(context, backends).ifPresent(problems::add);
        return new DoctorReport(
                job,
                backends,
                tcp(context, problems),
                SharedMemoryFacts.of(context, ranks, problems, limits),
                GpuFacts.of(context),
                machine(programs, cores, descriptors),
                List.copyOf(problems),
                List.copyOf(limits));
    }

    /** Returns the given context, or the context of rank 0 of this host if the given context has no rank yet. */
    public static RankContext asFirstRank(RankContext context) {
        return new ForwardingContext(context) {
            @Override
            public Optional<String> setting(String name) {
                Optional<String> given = context.setting(name);
                return given.isEmpty() && name.equals(Settings.LOCAL_RANK.name()) ? Optional.of("0") : given;
            }
        };
    }

    /** Returns the rank of this process, and each launcher whose variables are set. */
    private static Map<String, String> job(RankContext context, List<String> problems) {
        JobVariables found = JobFinder.of(context);
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("a program started here", found.job().isPresent() ? "joins: " + found.line() : refusal(found));
        for (DetectedLauncher one : found.seen()) {
            boolean named = one.verdict().startsWith(one.variables());
            facts.put("seen: " + one.family().title(), (named ? "" : one.variables() + ", ") + one.verdict());
        }
        // ferro doctor usually runs in a shell in which no job has been started yet
        boolean contradicts = found.seen().stream()
                        .anyMatch(one -> one.verdict().equals("refused"))
                || found.refusal().isPresent()
                        && found.seen().stream().anyMatch(one -> one.verdict().equals("chosen"));
        if (contradicts) {
            problems.add("a program started here would be refused: "
                    + found.refusal().orElseThrow());
        }
        return facts;
    }

    private static String refusal(JobVariables found) {
        return found.seen().isEmpty()
                ? "has no rank: no launcher's variables are set"
                : "is refused: " + found.refusal().orElseThrow();
    }

    private static void judge(DescriptorCheck descriptors, int ranks, List<String> problems, List<String> limits) {
        Optional<String> none = descriptors.shortFor(new Placement(SEVERAL, 1, 0));
        if (none.isPresent()) {
            problems.add(none.get());
            return;
        }
        descriptors.shortFor(new Placement(ranks, 1, 0)).ifPresent(limits::add);
        descriptors.shortForCompiler().ifPresent(limits::add);
    }

    private static List<BackendReport> backends(RankContext context) {
        return BackendReport.all(context).stream()
                .map(found -> new BackendReport(
                        found.name(), found.priority(), found.unavailable().map(DoctorReport::inTheDoctor)))
                .toList();
    }

    /** Removes the advice to run {@code ferro doctor} from a reason. */
    public static String inTheDoctor(String reason) {
        return reason.replace(" (FERRO_BACKEND=nccl ferro doctor lists them)", ", listed below");
    }

    /** Returns what is wrong with the back end that a job would use; empty if nothing is wrong. */
    private static Optional<String> selectionProblem(RankContext context, List<BackendReport> backends) {
        String wanted = Settings.BACKEND.of(context);
        boolean found = BackendChoice.names(wanted).stream()
                .allMatch(name -> backends.stream().anyMatch(one -> joinsProcesses(one, name)));
        return found
                ? Optional.empty()
                : Optional.of("no back end that joins processes is usable for " + Settings.BACKEND.name() + "=" + wanted
                        + ": set a back end that the list below calls usable, or add its jar");
    }

    private static boolean joinsProcesses(BackendReport one, String wanted) {
        boolean meant = wanted.equals(BackendChoice.AUTO)
                ? one.priority() >= 0
                : one.name().equals(wanted) && !wanted.equals(BackendChoice.SIMULATED);
        return meant && one.unavailable().isEmpty();
    }

    private static Map<String, String> tcp(RankContext context, List<String> problems) {
        Map<String, String> facts = new LinkedHashMap<>();
        try {
            TcpOutlook outlook = TcpOutlook.of(context);
            facts.put("address", outlook.address());
            facts.put("why this address", outlook.addressReason());
            facts.put("interface", outlook.link());
            facts.put("ports", outlook.ports());
            List<String> allowed = TcpOutlook.interfaces(context);
            if (!allowed.isEmpty()) {
                facts.put(
                        "for NCCL",
                        NcclVariableSetter.VARIABLE + "=" + NcclVariableSetter.value(allowed)
                                + ", set by ferro run; with another launcher, set it yourself");
            }
            facts.put("sockets", outlook.sockets());
            facts.put("congestion control", outlook.congestion());
            facts.put("encryption", outlook.encryption());
        } catch (FerroException | IllegalArgumentException | LinkageError failure) {
            problems.add("tcp cannot work with these settings: " + failure.getMessage());
        }
        return facts;
    }

    private static Map<String, String> machine(ProgramFinder programs, UsableCores cores, DescriptorCheck descriptors) {
        ChildProcessGuard guard = ChildProcessGuard.find(programs);
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("java", Runtime.version() + " at " + System.getProperty("java.home"));
        facts.put("flags of ranks", String.join(" ", JavaSettings.ownFlags()));
        facts.put("ranks combine by", KernelProbe.ofRanks());
        facts.put(
                "system",
                System.getProperty("os.name") + " " + System.getProperty("os.version") + ", "
                        + System.getProperty("os.arch"));
        facts.put("cores", cores.cores() + (cores.allowed().isEmpty() ? "" : ", numbers " + cores.allowed()));
        facts.put("open files", descriptors.text());
        facts.put("ranks end with the launcher", guard.missing().orElse("yes, by " + guard.means()));
        facts.put(
                "ranks bound to cores",
                programs.find("taskset").isPresent()
                        ? "if there is a core for each, by taskset"
                        : "no: no taskset in PATH (Debian, Ubuntu: util-linux)");
        return facts;
    }

    /** Returns the report as JSON. */
    public String json() {
        List<Map<String, Object>> listed = new ArrayList<>();
        for (BackendReport report : backends) {
            Map<String, Object> one = new LinkedHashMap<>();
            one.put("name", report.name());
            one.put("usable", report.unavailable().isEmpty());
            one.put("reason", report.unavailable().orElse(null));
            one.put("auto", report.priority() >= 0);
            listed.add(one);
        }
        Map<String, Object> all = new LinkedHashMap<>();
        all.put("job", job);
        all.put("backends", listed);
        all.put("tcp", tcp);
        all.put("shm", shm);
        all.put("gpu", gpu);
        all.put("machine", machine);
        all.put("problems", problems);
        all.put("limits", limits);
        all.put("ok", problems.isEmpty());
        return new GsonBuilder().serializeNulls().disableHtmlEscaping().create().toJson(all);
    }

    /** Returns the report as lines of text. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        lines.add(verdict());
        problems.forEach(problem -> lines.add("  " + problem));
        limits.forEach(limit -> lines.add("  " + limit));
        add("job", job, lines);
        lines.add("back ends");
        for (BackendReport report : backends) {
            String usable = report.priority() >= 0 ? "usable" : "usable by name only";
            lines.add(row(
                    report.name(),
                    report.unavailable().map(why -> "not usable: " + why).orElse(usable)));
        }
        add("tcp", tcp, lines);
        add("shared memory", shm, lines);
        add("device tensors", gpu, lines);
        add("this machine", machine, lines);
        return lines;
    }

    private static void add(String title, Map<String, String> facts, List<String> lines) {
        lines.add(title);
        facts.forEach((name, value) -> lines.add(row(name, value)));
    }

    private String verdict() {
        return problems.isEmpty()
                ? "a job of several ranks can run here" + (limits.isEmpty() ? "" : ", within limits")
                : "no job of several ranks can run here";
    }

    private static String row(String name, String value) {
        return String.format("  %-28s %s", name, value);
    }
}
