/**
 * The findings of {@code ferro doctor} on this machine: cores, memory, devices, libraries and limits.
 *
 * <p>Start reading at {@code DoctorReport}. Code in this package changes nothing on the machine.
 */
package ferro.launcher.doctor;
