package gateway

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/windows"
)

// ownGroup does nothing: there are no groups of processes that a signal reaches.
func ownGroup(*exec.Cmd) {}

// interrupt does nothing: a process cannot be asked to end.
func interrupt(*exec.Cmd) {}

func kill(c *exec.Cmd) { _ = c.Process.Kill() }

// begun puts a process into a job that ends with the gateway, and what it starts with it. A
// process that cannot be put into one ends when its standard input does.
func begun(c *exec.Cmd) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return
	}
	limits := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	process, opened := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(c.Process.Pid))
	if err != nil || opened != nil || windows.AssignProcessToJobObject(job, process) != nil {
		_ = windows.CloseHandle(job) // nothing is in it
	} // else the handle stays open as long as the gateway lives
	if opened == nil {
		_ = windows.CloseHandle(process)
	}
}
