#!/usr/bin/perl
# Takes whatever is sent to port 8080 of this machine, which other names lead to, and records it. Answers as a web
# server does. Says that it is ready by the file that it is given.
use strict;
use warnings;
use IO::Socket::INET;
$SIG{CHLD} = 'IGNORE';
my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', LocalPort => 8080, Listen => 16, ReuseAddr => 1) or exit 1;
open(my $ready, '>', $ARGV[0]) or exit 1;
close($ready);
my $count = 0;
while (my $client = $server->accept) {
    $count++;
    next if fork;
    open(my $out, '>', "/mnt/record/net.$$.$count");
    binmode $out;
    $out->autoflush(1);
    my $text = '';
    while (sysread($client, my $part, 65536)) {
        print $out $part;
        $text .= $part;
        if ($text =~ /\r\n\r\n/) {
            my ($length) = $text =~ /content-length: *(\d+)/i;
            last if $text !~ /chunked/i && length($text) - $+[0] + 0 >= ($length // 0);
        }
    }
    print $client "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
    exit;
}
