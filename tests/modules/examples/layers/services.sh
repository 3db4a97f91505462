# Services with init scripts, as on a machine that systemd did not boot.

for name in nginx apache2 exim4 cups; do
    cat >/etc/init.d/$name <<END
#!/bin/sh
### BEGIN INIT INFO
# Provides:          $name
# Required-Start:
# Required-Stop:
# Default-Start:     2 3 4 5
# Default-Stop:      0 1 6
# Short-Description: $name of the examples
### END INIT INFO
PID=/run/$name.pid
alive() { [ -e \$PID ] && kill -0 \$(cat \$PID) 2>/dev/null; }
case "\$1" in
  start) alive || { setsid sleep 600 </dev/null >/dev/null 2>&1 & echo \$! >\$PID; } ;;
  stop) alive && kill \$(cat \$PID); rm -f \$PID ;;
  restart) \$0 stop; \$0 start ;;
  reload|force-reload) alive ;;
  status) if alive; then echo running; else echo stopped; exit 3; fi ;;
esac
END
    chmod 755 /etc/init.d/$name
done
update-rc.d apache2 defaults
update-rc.d exim4 defaults
