package ferro.examples.textmodel;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * The options for the start of the training and for its state.
 *
 * @param shard  whether each rank keeps only a part of the optimizer's state
 * @param save   folder for a checkpoint at the end
 * @param resume folder of the checkpoint to resume from
 */
record StateOptions(boolean shard, Optional<Path> save, Optional<Path> resume) {
    static final String SHARD = "--shard";
    static final String SAVE = "--save";
    static final String RESUME = "--resume";

    /**
     * Reads the options of the state from the given options.
     *
     * @param given values of the given options, by name
     * @return options
     * @throws UsageException if an option is invalid; the message names the option and its value
     */
    static StateOptions of(Map<String, String> given) {
        if (!given.getOrDefault(SHARD, "true").equals("true")) {
            throw new UsageException(SHARD + "=" + given.get(SHARD) + ": the option takes no value");
        }
        Optional<Path> resume = Optional.ofNullable(given.get(RESUME)).map(Path::of);
        resume.filter(folder -> !hasCheckpoint(folder)).ifPresent(folder -> {
            throw new UsageException(RESUME + " " + folder + ": there is no checkpoint (latest.json is missing); "
                    + SAVE + " " + folder + " writes one");
        });
        Optional<Path> save = Optional.ofNullable(given.get(SAVE)).map(Path::of);
        save.filter(folder -> hasCheckpoint(folder) && !resume.equals(Optional.of(folder)))
                .ifPresent(folder -> {
                    throw new UsageException(
                            SAVE + " " + folder + ": the folder already has a checkpoint: resume from it with " + RESUME
                                    + " " + folder + ", or choose another folder");
                });
        return new StateOptions(given.containsKey(SHARD), save, resume);
    }

    private static boolean hasCheckpoint(Path folder) {
        return Files.isRegularFile(folder.resolve("latest.json"));
    }
}
