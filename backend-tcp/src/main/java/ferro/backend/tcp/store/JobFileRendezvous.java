package ferro.backend.tcp.store;

import ferro.FerroException;
import ferro.FerroException.Code;
import ferro.FerroException.Where;
import ferro.backend.tcp.net.AddressLookup;
import ferro.backend.tcp.net.Secret;
import ferro.backend.tcp.net.SecretFile;
import ferro.backend.tcp.store.JobAddressFile.JobFileContent;
import ferro.job.JobFinder;
import ferro.job.LauncherKind;
import ferro.job.RankOfJob;
import ferro.job.RendezvousPoint;
import ferro.spi.GroupSpec;
import ferro.spi.RankContext;
import ferro.spi.Settings;
import java.util.Optional;
import java.util.Set;

/**
 * A rendezvous by job file. Ranks use a job file if the launcher names no port, or if the job needs a secret and the
 * launcher names no secret. Rank 0 of the group serves the store and writes a file with its address and secret. The
 * other ranks read the file.
 *
 * @param file       job file
 * @param servedHere whether this rank serves the store
 * @param allLocal   whether all ranks are on this host
 * @param host       host of rank 0, if a setting names the host
 * @param port       port of rank 0; 0 for any free port
 * @param secretWritten whether rank 0 creates a secret and writes it into the file
 */
public record JobFileRendezvous(
        JobAddressFile file,
        boolean servedHere,
        boolean allLocal,
        Optional<String> host,
        int port,
        boolean secretWritten) {
    private static final String WORLD = "world";
    private static final int MOST_NAME = 100;
    private static final String LOOPBACK = "127.0.0.1";
    private static final Set<String> ANY = Set.of("0.0.0.0", "::");
    /** Launchers of clusters whose hosts usually share users' home folders. */
    private static final Set<LauncherKind> SHARING =
            Set.of(LauncherKind.OPEN_MPI, LauncherKind.HYDRA, LauncherKind.SLURM);

    /**
     * Decides whether the ranks use a job file.
     *
     * @return empty if the settings suffice without a job file, or if it is unknown whether the ranks can share a file
     * @throws IllegalArgumentException if the ranks need a job file, and share no identifier that can name the file
     * @throws FerroException UNAUTHENTICATED if the ranks need a secret and have no way to share a secret
     */
    public static Optional<JobFileRendezvous> find(GroupSpec group, RankContext context) {
        Optional<RankOfJob> job = JobFinder.of(context).job();
        if (job.isEmpty() || Settings.STORE_SERVED.of(context)) {
            return Optional.empty();
        }
        RendezvousPoint meeting = job.get().rendezvous();
        boolean hostNamed = Settings.MASTER_ADDR.find(context).isPresent();
        boolean secret = hasSecret(context);
        if (hostNamed && meeting.port().isPresent() && (secret || isLoopback(meeting))) {
            return Optional.empty();
        }
        boolean local = meeting.allLocal() && !hostNamed;
        if (!local && secret && meeting.host().isPresent() && meeting.port().isPresent()) {
            return Optional.empty();
        }
        boolean folderSet = Settings.JOB_DIR.find(context).isPresent();
        boolean mayShare = local || folderSet || SHARING.contains(job.get().family());
        if (!mayShare) {
            refuse(job.get(), hostNamed, group);
            return Optional.empty();
        }
        if (meeting.key().isEmpty() && !SHARING.contains(job.get().family())) {
            return Optional.empty();
        }
        return Optional.of(of(group, context, job.get()));
    }

    /**
     * Returns whether the host name resolves to loopback on all hosts of the job. Some names resolve to loopback on one
     * host only.
     */
    private static boolean isLoopback(RendezvousPoint meeting) {
        String host = meeting.host().orElseThrow();
        return AddressLookup.isLoopback(host) || meeting.allLocal() && AddressLookup.leadsToLoopback(host);
    }

    /**
     * Throws for pods without a secret. Pods have no common folder unless a setting names one, so they would wait until
     * the deadline for a job file.
     */
    private static void refuse(RankOfJob job, boolean hostNamed, GroupSpec group) {
        if (job.family() != LauncherKind.INDEX || hostNamed) {
            return;
        }
        job.rendezvous().noHost().ifPresent(why -> {
            throw new IllegalArgumentException(why);
        });
        throw new FerroException(
                Code.UNAUTHENTICATED,
                Where.of(group.name(), group.rank()),
                "rank " + group.rank() + " of \"" + group.name() + "\" has no secret, but the store at "
                        + job.rendezvous().host().orElse("rank 0")
                        + " can be reached from other machines: mount a Secret and name its file in FERRO_SECRET_FILE"
                        + " (ferro secret FILE makes one)");
    }

    private static JobFileRendezvous of(GroupSpec group, RankContext context, RankOfJob job) {
        RendezvousPoint meeting = job.rendezvous();
        Where where = Where.of(group.name(), group.rank());
        String key = meeting.key()
                .orElseThrow(() -> new IllegalArgumentException("the ranks of this " + job.title()
                        + " share no identifier that can name a job file: set FERRO_JOB_ID to a name that is "
                        + "the same on all ranks and new for every start; or set MASTER_ADDR, MASTER_PORT and "
                        + "FERRO_SECRET_FILE"));
        boolean named = Settings.MASTER_ADDR.find(context).isPresent();
        boolean local = meeting.allLocal() && !named;
        return new JobFileRendezvous(
                new JobAddressFile(JobFolderFinder.of(context, meeting.allLocal(), where), key + suffix(group)),
                group.rank() == 0,
                local,
                local ? Optional.empty() : meeting.host(),
                Settings.MASTER_PORT.find(context).orElse(0),
                !hasSecret(context));
    }

    private static boolean hasSecret(RankContext context) {
        return context.secret().isPresent()
                || Settings.SECRET_FILE.find(context).isPresent();
    }

    /** Returns the suffix of the file's name. Each group whose name is not the default name has a file of its own. */
    private static String suffix(GroupSpec group) {
        String name = group.name();
        if (name.equals(WORLD)) {
            return "";
        }
        boolean plain = name.matches("[A-Za-z0-9_-]+") && name.length() <= MOST_NAME;
        return "." + (plain ? name : Integer.toHexString(name.hashCode()));
    }

    /** Returns the rendezvous that rank 0 serves. */
    Rendezvous own(RankContext context, Where where) {
        Optional<Secret> fresh = secretWritten ? Optional.of(Secret.of(SecretFile.fresh())) : Optional.empty();
        return new Rendezvous(ownHost(context, where), port, true, Rendezvous.RANK_ZERO, fresh);
    }

    private String ownHost(RankContext context, Where where) {
        String bind = Settings.TCP_BIND.of(context);
        if (!bind.equals("auto") && !ANY.contains(bind)) {
            return bind;
        }
        return allLocal ? LOOPBACK : Rendezvous.reachable(host, context, where);
    }

    /** Returns, for a rank other than rank 0, the rendezvous that the content of the job file describes. */
    Rendezvous told(JobFileContent entry) {
        return new Rendezvous(entry.host(), entry.port(), false, Rendezvous.RANK_ZERO, entry.secret());
    }

    /** Writes the job file, from which the other ranks get the address of rank 0. */
    WrittenJobFile write(TcpPort port, RankContext context, Where where) {
        JobFileContent entry = new JobFileContent(
                port.advertised(),
                port.bound().getPort(),
                secretWritten ? Optional.of(port.secret()) : Optional.empty());
        return WrittenJobFile.write(file, entry, context, where);
    }
}
