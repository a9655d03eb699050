/*
 * A stand-in for mongod, for stories of what drives one: takes the options that are needed for
 *that, listens, answers every connection with one line, and ends with status 0 on SIGTERM. A thread
 *for each connection counts it under a mutex, into a file of the folder of data.
 *
 *	mongod --version
 *	mongod --dbpath FOLDER --port PORT --bind_ip 127.0.0.1 --unixSocketPrefix FOLDER
 *	mongod --ask PORT	prints what a server at that port answers
 */
#include <arpa/inet.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned connections;
static char counts[4096];

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

static int tcp_socket(struct sockaddr_in *address, const char *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		die("socket");
	*address = (struct sockaddr_in){ .sin_family = AF_INET,
		.sin_port = htons((uint16_t)atoi(port)),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	return fd;
}

static void *answer(void *argument)
{
	int fd = (int)(long)argument;
	char line[32];
	pthread_mutex_lock(&mutex);
	snprintf(line, sizeof(line), "connection %u\n", ++connections);
	FILE *file = fopen(counts, "we");
	if (file == NULL || fputs(line, file) < 0 || fclose(file) != 0)
		die(counts);
	pthread_mutex_unlock(&mutex);
	if (write(fd, line, strlen(line)) < 0)
		perror("write");
	close(fd);
	return NULL;
}

static int ask(const char *port)
{
	struct sockaddr_in address;
	char text[32];
	int fd = tcp_socket(&address, port);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("connect");
	ssize_t size = read(fd, text, sizeof(text));
	return size > 0 && fwrite(text, 1, (size_t)size, stdout) == (size_t)size ? 0 : 1;
}

static void *wait_for_end(void *argument)
{
	int signal;
	sigwait(argument, &signal);
	exit(0);
}

static int serve(const char *port)
{
	struct sockaddr_in address;
	pthread_t thread;
	sigset_t end;
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &end, NULL);
	if (pthread_create(&thread, NULL, wait_for_end, &end) != 0)
		die("pthread_create");
	int fd = tcp_socket(&address, port), yes = 1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(fd, 64) != 0)
		die("bind");
	for (;;) {
		int client = accept(fd, NULL, NULL);
		if (client < 0)
			die("accept");
		if (pthread_create(&thread, NULL, answer, (void *)(long)client) != 0)
			die("pthread_create");
		pthread_detach(thread);
	}
}

int main(int count, char **arguments)
{
	const char *port = NULL, *folder = NULL;
	bool local = false;
	if (count == 2 && strcmp(arguments[1], "--version") == 0)
		return puts("db version v0.0.0, a stand-in") == EOF;
	if (count == 3 && strcmp(arguments[1], "--ask") == 0)
		return ask(arguments[2]);
	for (int i = 1; i + 1 < count; i += 2) {
		if (strcmp(arguments[i], "--port") == 0)
			port = arguments[i + 1];
		else if (strcmp(arguments[i], "--dbpath") == 0)
			folder = arguments[i + 1];
		else if (strcmp(arguments[i], "--bind_ip") == 0)
			local = strcmp(arguments[i + 1], "127.0.0.1") == 0;
		else if (strcmp(arguments[i], "--unixSocketPrefix") != 0)
			return 2;
	}
	if (port == NULL || folder == NULL || !local || access(folder, W_OK) != 0)
		return 2;
	snprintf(counts, sizeof(counts), "%s/connections", folder);
	return serve(port);
}
