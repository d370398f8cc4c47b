package ferro.launcher;

import static ferro.launcher.Said.assertHas;
import static ferro.launcher.Said.assertStarts;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ferro.job.HostFacts;
import ferro.job.JobFinder;
import ferro.job.LauncherKind;
import ferro.job.RankOfJob;
import ferro.spi.Setting;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

/** The manifests of docs/launchers hold together: numbers, names, ports, rights and sums. */
class ManifestsTest {
    private static final long GIB = 1L << 30;
    /** Beside heap, direct buffers and shared memory: classes, code, threads, the collector. */
    private static final long REST = GIB;

    private record Manifest(Map<String, Map<String, Object>> all, Map<String, Object> job, String name) {
        Map<String, Object> pod() {
            return map(map(job, "template"), "spec");
        }

        Map<String, Object> container() {
            return maps(pod(), "containers").get(0);
        }

        Map<String, String> variables() {
            return maps(container(), "env").stream()
                    .filter(one -> one.containsKey("value"))
                    .collect(Collectors.toMap(one -> (String) one.get("name"), one -> (String) one.get("value")));
        }

        Map<String, Object> volumeAt(String path) {
            String name = maps(container(), "volumeMounts").stream()
                    .filter(one -> one.get("mountPath").equals(path))
                    .map(one -> (String) one.get("name"))
                    .findFirst()
                    .orElseThrow();
            return maps(pod(), "volumes").stream()
                    .filter(one -> one.get("name").equals(name))
                    .findFirst()
                    .orElseThrow();
        }
    }

    @Test
    void everyRankResolvesTheFirstPodByItsNameInTheManifest() throws IOException {
        for (Manifest manifest : manifests()) {
            Map<String, String> variables = new HashMap<>(manifest.variables());
            variables.put("JOB_COMPLETION_INDEX", "2");
            RankOfJob job = JobFinder.find(variables, pod(manifest.name() + "-2", "train"))
                    .required();

            assertEquals(LauncherKind.INDEX, job.family());
            assertEquals(manifest.job().get("completions"), job.worldSize());
            assertEquals(manifest.job().get("parallelism"), job.worldSize(), "ranks wait for each other");
            assertEquals("Indexed", manifest.job().get("completionMode"));
            assertEquals(
                    Optional.of(manifest.name() + "-0.train"), job.rendezvous().host());
            Set<Object> open = maps(
                            maps(spec(manifest, "NetworkPolicy"), "ingress").get(0), "ports")
                    .stream()
                    .map(one -> one.get("port"))
                    .collect(Collectors.toSet());
            int own = Integer.parseInt(variables.get("FERRO_TCP_PORT"));
            assertEquals(Set.of(job.rendezvous().port().getAsInt(), own), open);
        }
    }

    @Test
    void theFirstPodIsResolvableBeforeItIsReady() throws IOException {
        Manifest indexed = manifests().get(0);
        Map<String, Object> service = spec(indexed, "Service");
        assertEquals("None", service.get("clusterIP"));
        assertEquals(true, service.get("publishNotReadyAddresses"));
        assertEquals("train", map(indexed.all().get("Service"), "metadata").get("name"));
        assertEquals("train", indexed.pod().get("subdomain"));
        assertEquals(
                map(map(indexed.job(), "template"), "metadata", "labels").get("app"),
                map(service, "selector").get("app"));

        Map<String, Object> network = map(spec(manifests().get(1), "JobSet"), "network");
        assertEquals(
                Map.of("enableDNSHostnames", true, "publishNotReadyAddresses", true, "subdomain", "train"), network);
    }

    @Test
    void aPodHasOnlyTheRightsThatARankNeeds() throws IOException {
        for (Manifest manifest : manifests()) {
            Map<String, Object> pod = map(manifest.pod(), "securityContext");
            Map<String, Object> own = map(manifest.container(), "securityContext");
            assertEquals(true, pod.get("runAsNonRoot"));
            assertEquals(true, own.get("readOnlyRootFilesystem"));
            assertEquals(false, own.get("allowPrivilegeEscalation"));
            assertEquals(Map.of("drop", List.of("ALL")), own.get("capabilities"));
            Map<String, Object> secret = map(manifest.volumeAt("/secret"), "secret");
            assertEquals(0440, secret.get("defaultMode"));
            assertTrue((int) pod.get("fsGroup") > 0);
            assertStarts(manifest.variables().get("FERRO_SECRET_FILE"), "/secret/");
            String metadata = "" + map(map(manifest.job(), "template"), "metadata");
            assertHas(metadata, "sidecar.istio.io/inject=false", "linkerd.io/inject=disabled");
        }
    }

    @Test
    void theMemoryLimitIsTheSumOnThePage() throws IOException {
        for (Manifest manifest : manifests()) {
            Map<String, Object> shm = map(manifest.volumeAt("/dev/shm"), "emptyDir");
            assertEquals("Memory", shm.get("medium"));
            long limit = bytes(
                    (String) map(manifest.container(), "resources", "limits").get("memory"));
            long sum = option(manifest, "-Xmx")
                    + option(manifest, "-XX:MaxDirectMemorySize=")
                    + bytes((String) shm.get("sizeLimit"))
                    + REST;
            assertEquals(limit, sum);
            assertEquals(6 * GIB, limit);
        }
        String page = Files.readString(Path.of("../docs/launchers/kubernetes.md"));
        assertHas(page, "3 + 1 + 1 + 1 = 6 GiB");
    }

    @Test
    void foldersThatRanksWriteToHaveAVolume() throws IOException {
        for (Manifest manifest : manifests()) {
            assertTrue(command(manifest).contains("-Djava.io.tmpdir=/tmp"));
            assertTrue(manifest.volumeAt("/tmp").containsKey("emptyDir"));
            assertStarts(manifest.variables().get("FERRO_RECORDER_DIR"), "/tmp/");
        }
    }

    @Test
    void aFailedPodFailsTheJobOrRestartsAllPods() throws IOException {
        for (Manifest manifest : manifests()) {
            assertEquals(0, manifest.job().get("backoffLimit"));
            assertEquals("Never", manifest.pod().get("restartPolicy"));
        }
        Map<String, Object> failure = map(spec(manifests().get(1), "JobSet"), "failurePolicy");
        assertTrue((int) failure.get("maxRestarts") > 0);
    }

    @Test
    void aJobSetPassesItsNumberOfRestartsToTheRanks() throws IOException {
        Manifest jobSet = manifests().get(1);
        Map<String, Object> attempt = maps(jobSet.container(), "env").stream()
                .filter(one -> one.containsKey("valueFrom"))
                .findFirst()
                .orElseThrow();
        assertEquals(
                "metadata.annotations['jobset.sigs.k8s.io/restart-attempt']",
                map(attempt, "valueFrom", "fieldRef").get("fieldPath"));
        Map<String, String> variables = new HashMap<>(jobSet.variables());
        variables.put("JOB_COMPLETION_INDEX", "2");
        variables.put((String) attempt.get("name"), "3");

        RankOfJob job =
                JobFinder.find(variables, pod(jobSet.name() + "-2", "train")).required();

        assertEquals(3, job.generation());
        assertEquals(Optional.of("train-ranks-0.3"), job.jobId());
    }

    private static long option(Manifest manifest, String start) {
        return command(manifest).stream()
                .filter(word -> word.startsWith(start))
                .map(word -> bytes(word.substring(start.length())))
                .findFirst()
                .orElseThrow();
    }

    @SuppressWarnings("unchecked")
    private static List<String> command(Manifest manifest) {
        return (List<String>) manifest.container().get("command");
    }

    /** Both notations: the JVM's 3g, Kubernetes' 3Gi. */
    private static long bytes(String text) {
        return Setting.bytes(text.replaceFirst("(g|Gi)$", "GiB"));
    }

    private static List<Manifest> manifests() throws IOException {
        Map<String, Map<String, Object>> indexed = read("indexed-job.yaml");
        Map<String, Map<String, Object>> jobSet = read("jobset.yaml");
        Map<String, Object> replicated =
                maps(map(jobSet.get("JobSet"), "spec"), "replicatedJobs").get(0);
        assertEquals(1, replicated.get("replicas"), "an index over all replicas does not exist");
        return List.of(
                new Manifest(indexed, map(indexed.get("Job"), "spec"), "train"),
                new Manifest(jobSet, map(replicated, "template", "spec"), "train-ranks-0"));
    }

    private static Map<String, Map<String, Object>> read(String name) throws IOException {
        String text = Files.readString(Path.of("../docs/launchers").resolve(name));
        assertHas(text, "Not run where ferro is built");
        return StreamSupport.stream(new Yaml().loadAll(text).spliterator(), false)
                .map(ManifestsTest::asMap)
                .collect(Collectors.toMap(one -> (String) one.get("kind"), one -> one));
    }

    private static Map<String, Object> spec(Manifest manifest, String kind) {
        return map(manifest.all().get(kind), "spec");
    }

    private static Map<String, Object> map(Map<String, Object> from, String... path) {
        Map<String, Object> at = from;
        for (String name : path) {
            assertTrue(at.containsKey(name), name + " is not among " + at.keySet());
            at = asMap(at.get(name));
        }
        return at;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> maps(Map<String, Object> from, String name) {
        return (List<Map<String, Object>>) from.get(name);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> asMap(Object value) {
        return (Map<String, Object>) value;
    }

    private static HostFacts pod(String hostName, String service) {
        return new HostFacts() {
            @Override
            public String hostName() {
                return hostName;
            }

            @Override
            public Optional<String> fullHostName() {
                return Optional.of(hostName + "." + service + ".default.svc.cluster.local");
            }

            @Override
            public List<Ancestor> ancestors() {
                return List.of();
            }
        };
    }
}
