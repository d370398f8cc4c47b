package ferro.launcher;

import ferro.backend.tcp.net.SecretFile;
import ferro.group.JoinOptions;
import ferro.launcher.input.BadInputException;
import ferro.launcher.input.JobSpec;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Map;
import java.util.OptionalInt;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The names and secrets with which launchers and ranks of a job authenticate to each other. If the job may start again,
 * each generation has a separate name and secret. Therefore every store and rank refuses a rank of another generation.
 */
final class JobSecrets {
    private static final String MAC = "HmacSHA256";
    /** Maximum number of generations, to keep the job name short. With a window, a job may restart for years. */
    private static final int MAX_GENERATIONS = 999_999;

    private final NamedSecret job;
    private final byte[] secret;
    private final boolean ofEachGeneration;
    private final JobFolder folder;

    /**
     * The name of a job or generation, and the secret that belongs to the name.
     *
     * @param id         id of the job
     * @param secretFile file that only this user can read
     */
    record NamedSecret(String id, Path secretFile) {}

    private JobSecrets(NamedSecret job, byte[] secret, boolean ofEachGeneration, JobFolder folder) {
        this.job = job;
        this.secret = secret;
        this.ofEachGeneration = ofEachGeneration;
        this.folder = folder;
    }

    /** Creates the name and the secret of a job, or uses the name and the secret that the user has given. */
    static JobSecrets of(JobSpec spec, Map<String, String> environment, JobFolder folder) throws IOException {
        String id = RankEnvironment.jobId(spec.placement(), environment, new SecureRandom());
        boolean ofEachGeneration = spec.restarts().areAny();
        if (ofEachGeneration) {
            checkLength(id);
        }
        Path file = spec.secretFile().isPresent() ? spec.secretFile().get() : folder.writeSecret();
        JobSecrets keys = new JobSecrets(new NamedSecret(id, file), SecretFile.read(file), ofEachGeneration, folder);
        if (ofEachGeneration) {
            // no rank reads the file
            folder.removeSecret(file);
        }
        return keys;
    }

    private static void checkLength(String id) {
        try {
            JoinOptions.jobId(id, MAX_GENERATIONS);
        } catch (IllegalArgumentException tooLong) {
            throw new BadInputException(
                    "FERRO_JOB_ID " + id + " is too long for --restarts, which adds the number of the generation: "
                            + tooLong.getMessage(),
                    tooLong);
        }
    }

    /** Returns the key for launchers, and for ranks of a job that never starts again. */
    NamedSecret ofJob() {
        return job;
    }

    /** Returns the key for the ranks of a generation, and writes the secret of the ranks into the job's folder. */
    NamedSecret ofRanks(int generation) throws IOException {
        if (!ofEachGeneration) {
            return job;
        }
        Path file = folder.writeSecret(generation, derived(secret, job.id, generation));
        return new NamedSecret(JoinOptions.jobId(job.id, generation), file);
    }

    /** Returns the generation in the job id of a refused process; empty if the process belongs to another job. */
    OptionalInt generation(String id) {
        String before = job.id + ".";
        String rest = id.startsWith(before) ? id.substring(before.length()) : "";
        return rest.matches("[0-9]{1,6}") ? OptionalInt.of(Integer.parseInt(rest)) : OptionalInt.empty();
    }

    /** Returns a generation's secret, from which other secrets of the job cannot be computed. */
    static byte[] derived(byte[] secret, String id, int generation) {
        try {
            Mac mac = Mac.getInstance(MAC);
            mac.init(new SecretKeySpec(secret, MAC));
            return mac.doFinal(("generation\n" + id + "\n" + generation).getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException everyJdkHasIt) {
            throw new IllegalStateException("this JDK has no " + MAC, everyJdkHasIt);
        }
    }
}
