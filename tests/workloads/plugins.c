/*
 * Loads libraries in turn and unloads each before the next one: plugins FLAGS FILE... Every one is
 * run twice. Prints where each came to lie, relative to the first. FLAGS: letters; d for
 * RTLD_DEEPBIND, n for a namespace of its own, k to keep the libraries, f to fork at the end.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *load(const char *flags, const char *file)
{
	int mode = RTLD_NOW | (strchr(flags, 'd') != NULL ? RTLD_DEEPBIND : 0);
	return strchr(flags, 'n') != NULL ? dlmopen(LM_ID_NEWLM, file, mode) : dlopen(file, mode);
}

int main(int argc, char **argv)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	char *first = NULL;
	pthread_mutex_lock(&mutex); /* seen in any case */
	for (int i = 2; i < argc; i++) {
		void *library = load(argv[1], argv[i]);
		if (library == NULL) {
			printf("%s\n", dlerror());
			continue;
		}
		void *symbol = dlsym(library, "plugin_run");
		void (*run)(void);
		memcpy(&run, &symbol, sizeof(run));
		if (first == NULL)
			first = symbol;
		printf("at %td\n", (char *)symbol - first);
		run();
		run();
		if (strchr(argv[1], 'k') == NULL && dlclose(library) != 0)
			return 1;
	}
	if (strchr(argv[1], 'f') != NULL) {
		pid_t child = fork();
		if (child == 0)
			exit(pthread_mutex_unlock(&mutex) + pthread_mutex_lock(&mutex));
		waitpid(child, NULL, 0);
	}
	pthread_mutex_unlock(&mutex);
	return argc < 3;
}
