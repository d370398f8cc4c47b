package ferro.launcher.program;

import ferro.launcher.analyze.Analysis;
import ferro.launcher.analyze.Ends;
import ferro.launcher.input.TemporaryFolder;
import ferro.spi.Settings;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Where the flight recorders of a job's ranks write: the user's folder, or a folder of the launcher that only this user can
 * read. The launcher's folder stays if the job has failed and there are recordings in it.
 *
 * @param folder absolute
 * @param ours   whether the launcher made it and removes it
 * @param before files that were in it before the job, with times of the folder's own clock
 */
public record Recordings(Path folder, boolean ours, Map<Path, FileTime> before) {
    private static final String VARIABLE = "FERRO_RECORDER_DIR";
    /** The end of a job waits no longer than this for a diagnosis, because the files may contain anything. */
    private static final long PATIENCE_SECONDS = 15;
    /** A job may fail for weeks, and the recordings of each generation take room. The end of the job lists as many. */
    private static final int KEPT_GENERATIONS = 20;

    /** Calls of each group that other launchers are told: the report of a node has little room. */
    private static final int LAST_CALLS = 3;

    /** Makes a folder for recordings of the ranks, or takes the one that the environment names. */
    public static Recordings of(Target target, Map<String, String> environment) throws IOException {
        Optional<String> named = Optional.ofNullable(target.properties().get(Settings.RECORDER_DIR.name()))
                .or(() -> Optional.ofNullable(environment.get(VARIABLE)))
                .filter(text -> !text.isBlank());
        if (named.isPresent()) {
            Path folder = Path.of(named.get()).toAbsolutePath();
            return new Recordings(folder, false, inside(folder));
        }
        return new Recordings(TemporaryFolder.make("ferro-recordings-", environment), true, Map.of());
    }

    /** Returns the files of a folder with their times: an earlier job may have had the same name. */
    private static Map<Path, FileTime> inside(Path folder) throws IOException {
        Map<Path, FileTime> inside = new HashMap<>();
        if (Files.isDirectory(folder)) {
            try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
                for (Path file : files) {
                    inside.put(file, written(file));
                }
            }
        }
        return Map.copyOf(inside);
    }

    private static FileTime written(Path file) {
        try {
            return Files.getLastModifiedTime(file);
        } catch (IOException gone) {
            return FileTime.fromMillis(0);
        }
    }

    /**
     * Returns where the ranks of one generation write: a folder below this one, which the launcher makes. The folder of a
     * generation that is too old is removed. In a folder that the user has named, the files of each generation have the name
     * of the generation's job, and stay.
     */
    public Recordings ofGeneration(int generation) throws IOException {
        if (!ours) {
            return this;
        }
        Path old = below(generation - KEPT_GENERATIONS);
        if (Files.isDirectory(old, LinkOption.NOFOLLOW_LINKS)) {
            remove(old);
        }
        return new Recordings(Files.createDirectory(below(generation)), true, Map.of());
    }

    private Path below(int generation) {
        return folder.resolve("generation-" + generation);
    }

    /** Returns the folder if the launcher must remove it. */
    public Optional<Path> removable() {
        return ours ? Optional.of(folder) : Optional.empty();
    }

    /** Adds the variable that names the folder for a rank, unless the user has named one. */
    public void addTo(Map<String, String> variables) {
        if (ours) {
            variables.put(VARIABLE, folder.toString());
        }
    }

    /** Returns the analysis of the recordings of a job together with how its ranks ended; empty if there are none. */
    public Optional<Analysis> analyzed(String job, Ends ends) {
        return patiently(
                () -> Analysis.of(List.of(folder), Optional.of(job), this::isOfThisJob, Optional.of(ends)), why -> {});
    }

    /**
     * Returns the analysis of recordings that launchers have read; empty if there are none.
     *
     * @param brief    recordings as {@link #brief} returns them
     * @param ends     how the ranks' processes ended
     * @param unjudged receives the reason if the analysis fails or takes too long
     */
    public static Optional<Analysis> analyzed(Analysis.Brief brief, Ends ends, Consumer<String> unjudged) {
        return patiently(() -> Analysis.of(brief, ends), unjudged).flatMap(Function.identity());
    }

    /** Returns the last calls of a job's ranks, for the launcher that analyses all nodes' recordings; empty if none. */
    public Analysis.Brief brief(String job) {
        return patiently(() -> Analysis.brief(folder, job, this::isOfThisJob, LAST_CALLS), why -> {})
                .orElseGet(() -> new Analysis.Brief(List.of(), Map.of()));
    }

    /** Whether a rank of a job has written a recording. */
    public boolean hasAny(String job) throws IOException {
        return Files.isDirectory(folder)
                && Analysis.files(folder).getOrDefault(job, new TreeMap<>()).values().stream()
                        .anyMatch(this::isOfThisJob);
    }

    private static <T> Optional<T> patiently(Callable<T> analysis, Consumer<String> unjudged) {
        FutureTask<T> task = new FutureTask<>(analysis);
        Thread thread = new Thread(task, "ferro-analysis");
        thread.setDaemon(true);
        thread.start();
        try {
            return Optional.of(task.get(PATIENCE_SECONDS, TimeUnit.SECONDS));
        } catch (ExecutionException failure) {
            // broken recordings must not hide why the job failed: ferro analyze says what is wrong with them
            unjudged.accept("" + failure.getCause());
            return Optional.empty();
        } catch (TimeoutException slow) {
            unjudged.accept("the analysis takes longer than " + PATIENCE_SECONDS + " s");
            return Optional.empty();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    private boolean isOfThisJob(Path file) {
        return !written(file).equals(before.get(file));
    }

    /**
     * Removes what is of no use: everything after a job that ended well, and a folder without recordings in any case. The
     * guard of the job's other folder may have removed it before.
     */
    public void settle(boolean endedWell) throws IOException {
        try {
            if (ours && (endedWell || !anyBelow())) {
                remove(folder);
            }
        } catch (NoSuchFileException gone) {
            return;
        }
    }

    /** Whether there is a recording in the folder, or in that of a generation. */
    private boolean anyBelow() throws IOException {
        try (DirectoryStream<Path> inside = Files.newDirectoryStream(folder, Files::isDirectory)) {
            for (Path generation : inside) {
                if (!Analysis.files(generation).isEmpty()) {
                    return true;
                }
            }
        }
        return !Analysis.files(folder).isEmpty();
    }

    private static void remove(Path folder) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
                    remove(file);
                } else {
                    Files.deleteIfExists(file);
                }
            }
        }
        Files.deleteIfExists(folder);
    }
}
